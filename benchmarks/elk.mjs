// A list of ELK graphs on stdin, each laid out or null on stdout: node elk.mjs FOLDER_OF_ELKJS
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const ELK = createRequire(`${process.argv[2]}/`)("elkjs");
const elk = new ELK();
const done = [];
for (const graph of JSON.parse(readFileSync(0, "utf8"))) {
  done.push(await elk.layout(graph).catch(() => null));
}
process.stdout.write(JSON.stringify(done));
