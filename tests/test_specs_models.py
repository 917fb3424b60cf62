"""Whole models among the bundled specs: parameters, active weights and caches, to the last one.

The numbers are the distinct parameters of the published model classes under their published
configurations, tied tensors once, buffers (routing biases, layer scalars) left out; caches are the
elements that these classes keep for one token. Each total also follows from a closed formula.
"""

from __future__ import annotations

import pytest
from published import LIBRARY, Published, by_role, counted
from test_specs_attention import COUNTS
from test_specs_multimodal import PARTS as MULTIMODAL_PARTS
from test_specs_multimodal import TABLE as MULTIMODAL
from test_specs_vision import PARTS as VISION_PARTS
from test_specs_vision import TOTALS as VISION

from transformer_diagrams.errors import DiagramError

TABLE = (
    Published(
        "mistral", "7B", "arXiv:2310.06825, Mistral",
        total=7_241_732_096, cache=65536,
        roles={
            "attention": 1_342_177_280,
            "embed_token": 131_072_000,
            "ffn": 5_637_144_576,
            "lm_head": 131_072_000,
            "norm": 266_240,
        },
    ),
    Published(
        "mixtral", "8x7B", "arXiv:2401.04088, Mixtral",
        total=46_702_792_704, cache=65536, active=12_879_925_248,
        roles={
            "attention": 1_342_177_280,
            "embed_token": 131_072_000,
            "lm_head": 131_072_000,
            "norm": 266_240,
            "routed_experts": 45_097_156_608,
            "router": 1_048_576,
        },
    ),
    Published(
        "qwen2.5", "0.5B", "arXiv:2412.15115, Qwen2",
        total=494_032_768, cache=6144,
        roles={
            "attention": 44_067_840,
            "embed_token": 136_134_656,
            "ffn": 313_786_368,
            "norm": 43904,
        },
    ),
    Published(
        "qwen2.5", "3B", "arXiv:2412.15115, Qwen2",
        total=3_085_938_688, cache=18432,
        roles={
            "attention": 339_830_784,
            "embed_token": 311_164_928,
            "ffn": 2_434_793_472,
            "norm": 149_504,
        },
    ),
    Published(
        "qwen2.5", "7B", "arXiv:2412.15115, Qwen2",
        total=7_615_616_512, cache=28672,
        roles={
            "attention": 822_212_608,
            "embed_token": 544_997_376,
            "ffn": 5_703_204_864,
            "lm_head": 544_997_376,
            "norm": 204_288,
        },
    ),
    Published(
        "qwen2.5", "32B", "arXiv:2412.15115, Qwen2",
        total=32_763_876_352, cache=131_072,
        roles={
            "attention": 4_026_990_592,
            "embed_token": 778_567_680,
            "ffn": 27_179_089_920,
            "lm_head": 778_567_680,
            "norm": 660_480,
        },
    ),
    Published(
        "qwen3", "0.6B", "arXiv:2505.09388, Qwen3",
        total=596_049_920, cache=57344,
        roles={
            "attention": 176_160_768,
            "embed_token": 155_582_464,
            "ffn": 264_241_152,
            "norm": 65536,
        },
    ),
    Published(
        "qwen3", "4B", "arXiv:2505.09388, Qwen3",
        total=4_022_468_096, cache=73728,
        roles={
            "attention": 943_718_400,
            "embed_token": 388_956_160,
            "ffn": 2_689_597_440,
            "norm": 196_096,
        },
    ),
    Published(
        "qwen3", "8B", "arXiv:2505.09388, Qwen3",
        total=8_190_735_360, cache=73728,
        roles={
            "attention": 1_509_949_440,
            "embed_token": 622_329_856,
            "ffn": 5_435_817_984,
            "lm_head": 622_329_856,
            "norm": 308_224,
        },
    ),
    Published(
        "qwen3", "14B", "arXiv:2505.09388, Qwen3",
        total=14_768_307_200, cache=81920,
        roles={
            "attention": 2_516_582_400,
            "embed_token": 777_912_320,
            "ffn": 10_695_475_200,
            "lm_head": 777_912_320,
            "norm": 424_960,
        },
    ),
    Published(
        "qwen3-moe", "30B-A3B", "arXiv:2505.09388, Qwen3Moe",
        total=30_532_122_624, cache=49152, active=3_353_032_704,
        roles={
            "attention": 905_969_664,
            "embed_token": 311_164_928,
            "lm_head": 311_164_928,
            "norm": 210_944,
            "routed_experts": 28_991_029_248,
            "router": 12_582_912,
        },
    ),
    Published(
        "gemma2", "2B", "arXiv:2408.00118, Gemma2",
        total=2_614_341_888, cache=53248,
        roles={
            "attention": 368_050_176,
            "embed_token": 589_824_000,
            "ffn": 1_656_225_792,
            "norm": 241_920,
        },
    ),
    Published(
        "gemma2", "27B", "arXiv:2408.00118, Gemma2",
        total=27_227_128_320, cache=188_416,
        roles={
            "attention": 2_604_662_784,
            "embed_token": 1_179_648_000,
            "ffn": 23_441_965_056,
            "norm": 852_480,
        },
    ),
    Published(
        "gemma3", "4B", "arXiv:2503.19786, Gemma3 text part",
        total=3_880_263_168, cache=69632,
        roles={
            "attention": 534_773_760,
            "embed_token": 671_252_480,
            "ffn": 2_673_868_800,
            "norm": 368_128,
        },
    ),
    Published(
        "gemma3", "27B", "arXiv:2503.19786, Gemma3 text part",
        total=27_009_346_304, cache=253_952,
        roles={
            "attention": 4_095_737_856,
            "embed_token": 1_409_630_208,
            "ffn": 21_502_623_744,
            "norm": 1_354_496,
        },
    ),
    Published(
        "gemma4", "E2B", "model card, Gemma4 text part",
        total=4_628_569_344, cache=9216,
        roles={
            "attention": 278_396_928,
            "embed_token": 402_653_184,
            "ffn": 1_557_135_360,
            "norm": 285_952,
            "ple_projections": 41_287_680,
            "ple_table": 2_348_810_240,
        },
    ),
    Published(
        "gemma4", "E4B", "model card, Gemma4 text part",
        total=7_463_013_376, cache=28672,
        roles={
            "attention": 587_202_560,
            "embed_token": 671_088_640,
            "ffn": 3_303_014_400,
            "norm": 560_128,
            "ple_projections": 82_575_360,
            "ple_table": 2_818_572_288,
        },
    ),
    Published(
        "gemma4", "31B", "model card, Gemma4 text part",
        total=30_697_345_280, cache=450_560,
        roles={
            "attention": 8_477_736_960,
            "embed_token": 1_409_286_144,
            "ffn": 20_808_990_720,
            "norm": 1_331_456,
        },
    ),
    Published(
        "gemma4", "26B-A4B", "model card, Gemma4 text part",
        total=25_233_141_760, cache=112_640, active=3_822_530_560,
        roles={
            "attention": 1_110_179_840,
            "embed_token": 738_197_504,
            "ffn": 535_265_280,
            "norm": 612_096,
            "routed_experts": 22_837_985_280,
            "router": 10_901_760,
        },
    ),
    Published(
        "olmo2", "1B", "arXiv:2501.00656, Olmo2",
        total=1_484_916_736, cache=65536,
        roles={
            "attention": 268_435_456,
            "embed_token": 205_520_896,
            "ffn": 805_306_368,
            "lm_head": 205_520_896,
            "norm": 133_120,
        },
    ),
    Published(
        "olmo2", "7B", "arXiv:2501.00656, Olmo2",
        total=7_298_617_344, cache=262_144,
        roles={
            "attention": 2_147_483_648,
            "embed_token": 411_041_792,
            "ffn": 4_328_521_728,
            "lm_head": 411_041_792,
            "norm": 528_384,
        },
    ),
    Published(
        "phi3", "mini", "arXiv:2404.14219, Phi3",
        total=3_821_079_552, cache=196_608,
        roles={
            "attention": 1_207_959_552,
            "embed_token": 98_500_608,
            "ffn": 2_415_919_104,
            "lm_head": 98_500_608,
            "norm": 199_680,
        },
    ),
    Published(
        "falcon", "7B", "arXiv:2311.16867, Falcon, output tied",
        total=6_921_720_704, cache=4096,
        roles={
            "attention": 1_340_080_128,
            "embed_token": 295_469_056,
            "ffn": 5_285_871_616,
            "norm": 299_904,
        },
    ),
    Published(
        "stablelm", "3B", "StableLM-3B-4E1T report, StableLm",
        total=2_795_443_200, cache=163_840,
        roles={
            "attention": 838_860_800,
            "embed_token": 128_778_240,
            "ffn": 1_698_693_120,
            "lm_head": 128_778_240,
            "norm": 332_800,
        },
    ),
    Published(
        "t5", "small", "arXiv:1910.10683, T5 v1.0; cache of the decoder by formula",
        total=60_506_624, cache=6144,
        roles={
            "attention": 18_874_368,
            "attention_rpb": 512,
            "embed_token": 16_449_536,
            "ffn": 25_165_824,
            "norm": 16384,
        },
    ),
    Published(
        "t5", "base", "arXiv:1910.10683, T5 v1.0; cache of the decoder by formula",
        total=222_903_552, cache=18432,
        roles={
            "attention": 84_934_656,
            "attention_rpb": 768,
            "embed_token": 24_674_304,
            "ffn": 113_246_208,
            "norm": 47616,
        },
    ),
    Published(
        "deepseek-v2", "Lite", "arXiv:2405.04434, DeepseekV2",
        total=15_706_484_224, cache=15552, active=2_661_150_208,
        roles={
            "attention": 371_589_120,
            "embed_token": 209_715_200,
            "ffn": 67_239_936,
            "lm_head": 209_715_200,
            "norm": 126_464,
            "routed_experts": 14_394_851_328,
            "router": 3_407_872,
            "shared_experts": 449_839_104,
        },
    ),
    Published(
        "deepseek-v2", "V2", "arXiv:2405.04434, DeepseekV2",
        total=235_741_434_880, cache=34560, active=21_375_800_320,
        roles={
            "attention": 8_953_528_320,
            "embed_token": 524_288_000,
            "ffn": 188_743_680,
            "lm_head": 524_288_000,
            "norm": 742_400,
            "routed_experts": 222_717_542_400,
            "router": 48_332_800,
            "shared_experts": 2_783_969_280,
        },
    ),
    Published(
        "deepseek-v3", "V3", "arXiv:2412.19437, DeepseekV3",
        total=671_026_404_352, cache=35136, active=37_552_282_624,
        roles={
            "attention": 11_413_422_080,
            "embed_token": 926_679_040,
            "ffn": 1_189_085_184,
            "lm_head": 926_679_040,
            "norm": 1_006_592,
            "routed_experts": 653_908_770_816,
            "router": 106_430_464,
            "shared_experts": 2_554_331_136,
        },
    ),
    Published(
        "deepseek-v3.2", "V3.2", "arXiv:2512.02556, DeepseekV32",
        total=671_877_929_216, cache=42944, active=38_403_807_488,
        roles={
            "attention": 11_413_422_080,
            "dsa_indexer": 851_524_864,
            "embed_token": 926_679_040,
            "ffn": 1_189_085_184,
            "lm_head": 926_679_040,
            "norm": 1_006_592,
            "routed_experts": 653_908_770_816,
            "router": 106_430_464,
            "shared_experts": 2_554_331_136,
        },
    ),
    Published(
        "deepseek-moe-16b", "16B", "arXiv:2401.06066, Glm4Moe of its shapes",
        total=16_375_728_128, cache=114_688, active=2_828_650_496,
        roles={
            "attention": 469_762_048,
            "embed_token": 209_715_200,
            "ffn": 67_239_936,
            "lm_head": 209_715_200,
            "norm": 116_736,
            "routed_experts": 14_948_499_456,
            "router": 3_538_944,
            "shared_experts": 467_140_608,
        },
    ),
    Published(
        "glm-4.5", "355B", "arXiv:2508.06471, Glm4Moe",
        total=352_797_814_784, cache=188_416, active=33_632_251_904,
        roles={
            "attention": 12_542_287_872,
            "embed_token": 775_946_240,
            "ffn": 566_231_040,
            "lm_head": 775_946_240,
            "norm": 970_752,
            "routed_experts": 335_963_750_400,
            "router": 72_908_800,
            "shared_experts": 2_099_773_440,
        },
    ),
    Published(
        "gpt-oss", "20b", "arXiv:2508.10925, GptOss",
        total=20_914_757_184, cache=24576, active=4_187_440_704,
        roles={
            "attention": 637_203_456,
            "embed_token": 579_133_440,
            "lm_head": 579_133_440,
            "norm": 141_120,
            "routed_experts": 19_116_933_120,
            "router": 2_212_608,
        },
    ),
    Published(
        "eagle3", "llama3.1-8b", "arXiv:2503.01840, published code; cache by formula",
        total=950_026_240, cache=2048,
        roles={
            "attention": 67_108_864,
            "embed_token_frozen": 525_336_576,
            "ffn": 176_160_768,
            "fusion_fc": 50_331_648,
            "lm_head": 131_072_000,
            "norm": 16384,
        },
    ),
)
IDS = [f"{row.spec}-{row.config}" for row in TABLE]


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_parameters_are_the_published_ones(row: Published) -> None:
    found = counted(row.spec, row.config)
    assert found.params.total.number == row.total
    assert by_role(found) == row.roles
    assert sum(row.roles.values()) == row.total


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_active_parameters_leave_out_the_experts_not_chosen(row: Published) -> None:
    found = counted(row.spec, row.config)
    assert found.params.active.number == (row.active or row.total)


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_cache_is_what_one_token_leaves_behind(row: Published) -> None:
    assert counted(row.spec, row.config).kv_cache.per_token.number == row.cache


# -- by hand ---------------------------------------------------------------------------------------


def gated(d: int, h: int) -> int:
    return 3 * d * h


def grouped(d: int, heads: int, groups: int, width: int) -> int:
    return d * width * (2 * heads + 2 * groups)


def decoder(
    layers: int, d: int, vocab: int, attention: int, ffn: int, *, norms: int = 2, tied: bool = False
) -> int:
    """A decoder with RMSNorm gains of width d, ``norms`` in a layer and one at last."""
    return (1 if tied else 2) * vocab * d + layers * (attention + ffn + norms * d) + d


def biased(layers: int, d: int, vocab: int, more: int) -> int:
    """Every map and LayerNorm with biases, networks four times as wide, a tied output matrix."""
    return vocab * d + more + layers * (12 * d * d + 13 * d) + 2 * d


def qwen25(layers: int, d: int, heads: int, groups: int, h: int, v: int, *, tied: bool) -> int:
    """Biases on queries, keys and values; heads of 128."""
    attention = grouped(d, heads, groups, 128) + (heads + 2 * groups) * 128
    return decoder(layers, d, v, attention, gated(d, h), tied=tied)


def gemma3(layers: int, d: int, heads: int, groups: int, h: int, v: int) -> int:
    """Heads of 256 with a gain each for queries and keys; four norms in a layer."""
    attention = grouped(d, heads, groups, 256) + 2 * 256
    return decoder(layers, d, v, attention, gated(d, h), norms=4, tied=True)


def olmo2(layers: int, d: int, heads: int, groups: int, h: int) -> int:
    """Gains over the packed queries and keys; heads of 128."""
    attention = grouped(d, heads, groups, 128) + (heads + groups) * 128
    return decoder(layers, d, 100_352, attention, gated(d, h))


def t5(layers: int, d: int, heads: int, width: int, h: int) -> int:
    """No biases and a tied output: attention once in the encoder, twice in the decoder."""
    attention, ffn = 4 * d * heads * width, 2 * d * h
    encoder, decoder_ = attention + ffn + 2 * d, 2 * attention + ffn + 3 * d
    return 32_128 * d + layers * (encoder + decoder_) + 2 * 32 * heads + 2 * d


def gpt2(layers: int, d: int) -> int:
    """Biases everywhere, LayerNorms with bias, 1,024 learned positions, a tied output."""
    return (50_257 + 1024) * d + layers * (12 * d * d + 13 * d) + 2 * d


def kimi_k2(d: int = 7168) -> int:
    """One dense layer, 60 with 384 routed experts and a shared one; 64 latent heads."""
    attention = d * 1536 + 1536 + 1536 * 64 * (128 + 64)
    attention += d * (512 + 64) + 512 + 512 * 64 * (128 + 128) + 64 * 128 * d
    moe = d * 384 + (384 + 1) * gated(d, 2048)
    both = 61 * (attention + 2 * d) + gated(d, 18432) + 60 * moe
    return 2 * 163_840 * d + both + d


# From the published configurations (config.json of each release), where no row above has the
# size: the arithmetic of the architecture, and what the paper or the model card calls it.
BY_HAND = {
    ("bert", "base"): (109_482_240, "110M"),
    ("bert", "base-mlm"): (109_514_298, "110M"),
    ("bert", "base-pretraining"): (110_106_428, "110M"),
    ("bert", "large"): (335_141_888, "340M"),
    ("bert", "large-mlm"): (335_174_458, "340M"),
    ("bert", "large-pretraining"): (336_226_108, "340M"),
    ("deepseek-v3", "kimi-k2"): (kimi_k2(), "1T"),
    ("gemma2", "9B"): (
        decoder(42, 3584, 256_000, grouped(3584, 16, 8, 256), gated(3584, 14336), norms=4,
                tied=True),
        "9.24B",
    ),
    ("gemma3", "1B"): (gemma3(26, 1152, 4, 1, 6912, 262_144), "1B"),
    ("gemma3", "12B"): (gemma3(48, 3840, 16, 8, 15360, 262_208), "12B"),
    ("glm-4.5", "Air"): (109_227_304_960 - 2_375_059_456, "106B"),
    ("gpt-oss", "120b"): (
        decoder(
            36, 2880, 201_088,
            grouped(2880, 64, 8, 64) + (64 + 2 * 8) * 64 + 2880 + 64,  # biases and sinks
            (2880 + 1) * 128 + 128 * (3 * 2880 * 2880 + 3 * 2880),
        ),
        "116.83B",
    ),
    ("bloom", "560M"): (biased(24, 1024, 250_880, 2 * 1024), "559M"),
    ("bloom", "7B1"): (biased(30, 4096, 250_880, 2 * 4096), "7.07B"),
    ("bloom", "176B"): (176_247_271_424, "176B"),
    ("cohere2", "7B"): (8_028_033_024, "8B"),
    ("cohere2", "A-111B"): (
        decoder(64, 12288, 256_000, grouped(12288, 96, 8, 128), gated(12288, 36864), norms=1,
                tied=True),
        "111B",
    ),
    ("gpt-neox", "20B"): (20_554_567_680, "20B"),
    ("gpt-neox", "pythia-1b"): (1_011_781_632, "1.01B"),
    ("gpt-neox", "pythia-12b"): (11_846_072_320, "11.8B"),
    ("gptj", "6B"): (6_050_882_784, "6.05B"),
    ("mpt", "7B"): (6_649_286_656, "6.65B"),
    ("mpt", "30B"): (decoder(48, 7168, 50_432, 4 * 7168**2, 8 * 7168**2, tied=True), "30B"),
    ("opt", "125M"): (125_239_296, "125M"),
    ("opt", "1.3B"): (biased(24, 2048, 50_272, 2050 * 2048), "1.3B"),
    ("opt", "6.7B"): (biased(32, 4096, 50_272, 2050 * 4096), "6.7B"),
    ("opt", "30B"): (biased(48, 7168, 50_272, 2050 * 7168), "30B"),
    ("qwen2-moe", "A2.7B"): (14_315_784_192, "14.3B"),
    ("qwen2-moe", "57B-A14B"): (
        decoder(28, 3584, 151_936, grouped(3584, 28, 4, 128) + (28 + 2 * 4) * 128,
                gated(3584, 20480) + 3584 + 64 * (gated(3584, 2560) + 3584)),
        "57.4B",
    ),
    ("gpt2", "small"): (gpt2(12, 768), "124M"),
    ("gpt2", "medium"): (gpt2(24, 1024), "355M"),
    ("gpt2", "large"): (gpt2(36, 1280), "774M"),
    ("gpt2", "xl"): (gpt2(48, 1600), "1.5B"),
    ("llama3", "2-7B"): (decoder(32, 4096, 32000, 4 * 4096**2, gated(4096, 11008)), "6.7B"),
    ("llama3", "8B"): (8_030_261_248, "8B"),
    ("llama3", "70B"): (70_553_706_496, "70B"),
    ("llama3", "3.1-405B"): (405_853_388_800, "405B"),
    ("llama3", "3.2-1B"): (1_235_814_400, "1.24B"),
    ("mixtral", "8x22B"): (
        decoder(56, 6144, 32_000, grouped(6144, 48, 8, 128),
                6144 * 8 + 8 * gated(6144, 16384)),
        "141B",
    ),
    ("olmo2", "13B"): (olmo2(40, 5120, 40, 40, 13824), "13B"),
    ("olmo2", "32B"): (olmo2(64, 5120, 40, 8, 27648), "32B"),
    ("phi3", "medium"): (
        decoder(40, 5120, 32064, grouped(5120, 40, 10, 128), gated(5120, 17920)), "14B"
    ),
    ("qwen2.5", "1.5B"): (qwen25(28, 1536, 12, 2, 8960, 151_936, tied=True), "1.54B"),
    ("qwen2.5", "14B"): (qwen25(48, 5120, 40, 8, 13824, 152_064, tied=False), "14.7B"),
    ("qwen2.5", "72B"): (qwen25(80, 8192, 64, 8, 29568, 152_064, tied=False), "72.7B"),
    ("qwen3", "1.7B"): (
        decoder(28, 2048, 151_936, grouped(2048, 16, 8, 128) + 256, gated(2048, 6144), tied=True),
        "1.7B",
    ),
    ("qwen3", "32B"): (
        decoder(64, 5120, 151_936, grouped(5120, 64, 8, 128) + 256, gated(5120, 25600)), "32.8B"
    ),
    ("qwen3-moe", "235B-A22B"): (
        decoder(94, 4096, 151_936, grouped(4096, 64, 4, 128) + 256,
                4096 * 128 + 128 * gated(4096, 1536)),
        "235B",
    ),
    ("t5", "large"): (t5(24, 1024, 16, 64, 4096), "770M"),
    ("t5", "3B"): (t5(24, 1024, 32, 128, 16384), "2.8B"),
    ("t5", "11B"): (t5(24, 1024, 128, 128, 65536), "11B"),
    ("transformer", "base"): (63_045_632, "65M"),
    ("transformer", "big"): (214_171_648, "213M"),
}


@pytest.mark.parametrize(
    ("size", "total"),
    [pytest.param(size, total, id=f"{'-'.join(size)}, {called}")
     for size, (total, called) in BY_HAND.items()],
)
def test_other_sizes_by_the_arithmetic_of_their_configuration(
    size: tuple[str, str], total: int
) -> None:
    assert counted(*size).params.total.number == total


def latent(d: int, heads: int, c: int, query: int = 0, rotated: int = 0) -> int:
    """Latent attention: key and value heads of 128 out of ``c``, queries out of ``query`` or d."""
    queries = (query or d) * heads * (128 + rotated) + (query and d * query + query)
    return queries + d * (c + rotated) + c + 2 * c * heads * 128 + heads * 128 * d


V3_LAYER = latent(7168, 128, 512, 1536, 64) + 2 * 7168
V3_EXPERTS = 257 * gated(7168, 2048) + 256 * 7168


def ple(layers: int, d: int, groups: int, h: int) -> int:
    """Every layer has its own narrow embedding of each token, and a gate for it; up to the last
    norm, which the figure leaves out."""
    layer = grouped(d, 8, groups, 256) + 2 * 256 + gated(d, h) + 4 * d + 2 * 256 * d + d
    tables = 262_144 * d + 262_144 * 256 * layers + 256 * layers * d + 256
    return tables + layers * layer


# Parts of models at the sizes of published ones: their weights by the arithmetic of each.
PARTS = {
    ("attention-module", "small"): 4 * 512 * 64,
    ("causal-attention", "prefill"): 4 * 512 * 64,
    ("causal-attention", "window"): 4 * 512 * 64,
    ("self-attention", "small"): 4 * 512 * 64,
    ("dot-product-attention", "base"): 0,
    ("dot-product-attention", "llama"): 0,
    ("rotation", "head"): 0,
    ("decoder-layer", "llama3-8b"): grouped(4096, 32, 8, 128) + gated(4096, 14336) + 2 * 4096,
    ("dsa", "small"): 4 * 1024**2 + 1024 * (4 * 32 + 32 + 4) + 2 * 32,
    ("eagle3-attention", "llama3.1-8b"): 2 * 4096 * (4096 + 2 * 8 * 128) + 4096**2,
    ("alibi-attention", "bloom"): 4 * 14336**2 + 4 * 14336,
    ("alibi-attention", "mpt-7b"): 4 * 4096**2,
    ("moe-gated-share", "qwen1.5-moe"): gated(2048, 5632) + 2048
    + 60 * (gated(2048, 1408) + 2048),
    ("ffn", "base"): 2 * 512 * 2048 + 512 + 2048,
    ("ffn", "gpt2"): 2 * 768 * 3072 + 768 + 3072,
    ("gemma-layer", "gemma2-2b"): grouped(2304, 8, 4, 256) + gated(2304, 9216) + 4 * 2304,
    ("gemma-layer", "gemma3-4b"): grouped(2560, 8, 4, 256) + 2 * 256 + gated(2560, 10240)
    + 4 * 2560,
    ("gemma-ple", "E2B"): ple(35, 1536, 1, 6144),
    ("gemma-ple", "E4B"): ple(42, 2560, 2, 10240),
    ("gemma4-attention", "e2b-window"): grouped(1536, 8, 1, 256) + 2 * 256,
    ("gemma4-attention", "e2b-full"): grouped(1536, 8, 1, 512) + 2 * 512,
    ("gemma4-attention", "e2b-full-shared"): 2 * 1536 * 8 * 512 + 512,
    ("gemma4-attention", "31b-full"): 5376 * 512 * (2 * 32 + 4) + 2 * 512,
    ("gemma4-layer", "31b-window"): grouped(5376, 32, 16, 256) + 2 * 256 + gated(5376, 21504)
    + 4 * 5376,
    ("gemma4-layer", "26b-a4b-window"): grouped(2816, 16, 8, 256) + 2 * 256 + gated(2816, 2112)
    + 128 * (gated(2816, 704) + 2816 + 1) + 8 * 2816,
    ("gemma4-moe", "26b-a4b"): 128 * (gated(2816, 704) + 2816 + 1) + 2 * 2816,
    ("gemma4-ple-layer", "e2b-window"): grouped(1536, 8, 1, 256) + 2 * 256 + gated(1536, 6144)
    + 5 * 1536 + 2 * 256 * 1536,
    ("gpt-oss-layer", "20b"): grouped(2880, 64, 8, 64) + (64 + 2 * 8) * 64 + 2880 + 64
    + 32 * (2880 + 1 + 3 * 2880**2 + 3 * 2880) + 2 * 2880,
    ("gqa", "gemma2-27b"): grouped(4608, 32, 16, 128),
    ("mha-packed", "base"): 4 * 512**2,
    ("mha-packed", "gpt3-lora"): 4 * 12288**2 + 2 * 4 * (12288 + 12288),
    ("mha-per-head", "base"): 4 * 512**2,
    ("mha-per-head", "gpt2-xl"): 4 * 1600**2 + 4 * 1600,
    ("mha-summed", "gpt2"): 4 * 768**2 + 4 * 768 + 2 * 768,
    ("mla", "deepseek-v2-lite"): latent(2048, 16, 512),
    ("mla-absorbed", "deepseek-v2-lite"): latent(2048, 16, 512),
    ("mla-rope", "kimi-k2"): latent(7168, 64, 512, 1536, 64),
    ("moe-body", "deepseek-v3"): 61 * V3_LAYER + 3 * gated(7168, 18432) + 58 * V3_EXPERTS,
    ("moe-deepseek", "deepseekmoe-16b"): (64 + 2) * gated(2048, 1408) + 64 * 2048,
    ("moe-deepseek", "kimi-k2"): (384 + 1) * gated(7168, 2048) + 384 * 7168,
    ("moe-layer", "deepseek-v3"): V3_LAYER + V3_EXPERTS,
    ("moe-layer", "glm-4.5"): grouped(5120, 96, 8, 128) + (96 + 2 * 8) * 128 + 2 * 128
    + 161 * gated(5120, 1536) + 160 * 5120 + 2 * 5120,
    ("moe-mixtral", "8x22b"): 8 * (gated(6144, 16384) + 6144),
    ("mqa", "base"): grouped(1024, 8, 1, 128),
    ("mqa", "falcon-7b"): grouped(4544, 71, 1, 64),
    ("mtp-chained", "deepseek-v3"): 671_026_404_352 + 11_610_067_968,
    ("mtp-chained", "glm-4.5"): 352_797_814_784 + 3_988_069_632,
    ("mtp-chained", "glm-4.5-air"): 109_227_304_960,
    ("mtp-module", "deepseek-v3"): 11_610_067_968,
    ("mtp-module", "glm-4.5"): 3_988_069_632,
    ("mtp-module", "glm-4.5-air"): 2_375_059_456,
    ("mtp-parallel", "7B"): 6_738_415_616,
    ("ple-gate", "gemma4-e2b"): 2 * 256 * 1536 + 1536,
    ("ple-inputs", "gemma4-e2b"): 35 * 256 * (262_144 + 1536) + 256,
    ("ple-inputs", "gemma4-e4b"): 42 * 256 * (262_144 + 2560) + 256,
    ("qk-norm-attention", "swin-v2-t"): 4 * 96**2 + 3 * 96 + 3,
    ("relative-position-bias", "t5-base"): 4 * 768**2 + 32 * 12,
    ("rope", "roformer-base"): 4 * 768**2 + 3 * 768,
    ("swiglu", "llama3-8b"): gated(4096, 14336),
    ("swiglu", "llama2-7b"): gated(4096, 11008),
    ("t5-cross-attention", "small"): 4 * 512**2,
    ("t5-self-attention", "small"): 4 * 512**2,
}


@pytest.mark.parametrize("size", PARTS, ids="-".join)
def test_parts_by_the_arithmetic_of_their_sizes(size: tuple[str, str]) -> None:
    assert counted(*size).params.total.number == PARTS[size]


def test_every_config_of_every_bundled_spec_stands_in_one_of_the_tables() -> None:
    """So a new one needs a number from elsewhere before it is bundled."""
    bundled = {(id_, c) for id_ in LIBRARY.ids() for c in LIBRARY.get(id_).configs}
    counts = {(name, config) for name, config, *_ in COUNTS}
    table = {(row.spec, row.config) for row in TABLE}
    seen = {(name, config) for name, config, _ in (*VISION, *VISION_PARTS)}
    both = {(row.spec, row.config) for row in MULTIMODAL} | MULTIMODAL_PARTS.keys()
    assert bundled == table | BY_HAND.keys() | PARTS.keys() | counts | seen | both


def test_a_new_size_of_a_family_needs_no_new_spec() -> None:
    """Qwen2.5 32B from the 7B setting, by sizes alone."""
    sizes = {"L": 64, "d_m": 5120, "n_h": 40, "n_g": 8, "d_h": 27648}
    assert counted("qwen2.5", "7B", **sizes).params.total.number == 32_763_876_352


def test_sizes_alone_without_any_config() -> None:
    """Qwen3 0.6B: n_h d_K is twice the model width."""
    found = counted(
        "qwen3", L=28, d_m=1024, n_h=16, n_g=8, d_K=128, d_h=3072, V=151_936, tied="true"
    )
    assert found.params.total.number == 596_049_920


@pytest.mark.parametrize(
    ("spec", "config", "d", "v"),
    [
        ("mistral", "7B", 4096, 32000),
        ("qwen2.5", "7B", 3584, 152_064),
        ("qwen3", "8B", 4096, 151_936),
        ("phi3", "mini", 3072, 32064),
        ("olmo2", "1B", 2048, 100_352),
        ("stablelm", "3B", 2560, 50304),
        ("mixtral", "8x7B", 4096, 32000),
        ("qwen3-moe", "30B-A3B", 2048, 151_936),
        ("gpt-oss", "20b", 2880, 201_088),
        ("deepseek-v2", "Lite", 2048, 102_400),
        ("deepseek-v3", "V3", 7168, 129_280),
        ("deepseek-v3.2", "V3.2", 7168, 129_280),
        ("deepseek-moe-16b", "16B", 2048, 102_400),
        ("glm-4.5", "355B", 5120, 151_552),
    ],
)
def test_tying_saves_one_table(spec: str, config: str, d: int, v: int) -> None:
    untied, tied = counted(spec, config), counted(spec, config, tied=True)
    assert untied.params.total.number - tied.params.total.number == d * v
    assert "lm_head" not in by_role(tied)


@pytest.mark.parametrize(
    ("spec", "config", "d", "v"),
    [
        ("gemma2", "2B", 2304, 256_000),
        ("gemma3", "4B", 2560, 262_208),
        ("gemma4", "E2B", 1536, 262_144),
        ("falcon", "7B", 4544, 65024),
        ("t5", "small", 512, 32128),
    ],
)
def test_untying_adds_one_table(spec: str, config: str, d: int, v: int) -> None:
    assert by_role(counted(spec, config, tied=False))["lm_head"] == d * v


@pytest.mark.parametrize(
    ("spec", "config", "layers", "outputs"),
    [
        # n_h d_K + 2 n_g d_K numbers a layer
        ("mistral", "7B", 32, 4096 + 2 * 1024),
        ("mixtral", "8x7B", 32, 4096 + 2 * 1024),
        ("qwen2.5", "7B", 28, 3584 + 2 * 512),
        ("qwen3", "8B", 36, 4096 + 2 * 1024),
        ("qwen3-moe", "30B-A3B", 48, 4096 + 2 * 512),
        ("olmo2", "7B", 32, 3 * 4096),
        ("phi3", "mini", 32, 3 * 3072),
        ("stablelm", "3B", 32, 3 * 2560),
        ("gemma2", "2B", 26, 2048 + 2 * 1024),
        ("gemma3", "4B", 34, 2048 + 2 * 1024),
        ("deepseek-moe-16b", "16B", 28, 3 * 2048),
        ("glm-4.5", "355B", 92, 96 * 128 + 2 * 1024),
    ],
)
def test_biases_on_queries_keys_and_values(
    spec: str, config: str, layers: int, outputs: int
) -> None:
    biased, plain = counted(spec, config, bias=True), counted(spec, config, bias=False)
    change = by_role(biased)["attention"] - by_role(plain)["attention"]
    assert change == layers * outputs == biased.params.total.number - plain.params.total.number


@pytest.mark.parametrize("n_g", [1, 2, 4, 8, 16, 32])
def test_groups_change_keys_values_and_cache_only(n_g: int) -> None:
    """n_g = n_h is multi-head attention, n_g = 1 multi-query attention."""
    found = counted("mistral", "7B", n_g=n_g)
    assert by_role(found)["attention"] == 32 * grouped(4096, 32, n_g, 128)
    assert found.kv_cache.per_token.number == 32 * 2 * n_g * 128


def test_groups_must_divide_the_heads() -> None:
    with pytest.raises(DiagramError):
        counted("mistral", "7B", n_g=5)


@pytest.mark.parametrize("layers", [6, 7, 11, 12, 26, 48])
def test_gemma3_counts_every_layer_whatever_is_left_of_the_pattern(layers: int) -> None:
    d, h = 2560, 10240
    found = counted("gemma3", "4B", L=layers)
    layer = grouped(d, 8, 4, 256) + gated(d, h) + 4 * d + 2 * 256
    assert found.params.total.number == 262_208 * d + layers * layer + d
    assert found.kv_cache.per_token.number == layers * 2 * 4 * 256


@pytest.mark.parametrize("spec", ["gemma2", "gpt-oss"])
def test_layers_in_turn_need_an_even_number(spec: str) -> None:
    with pytest.raises(DiagramError):
        counted(spec, {"gemma2": "2B", "gpt-oss": "20b"}[spec], L=25)


@pytest.mark.parametrize("first", [1, 3, 10])
def test_dense_layers_come_first_and_are_counted(first: int) -> None:
    roles = by_role(counted("deepseek-v3", "V3", first_dense=first))
    assert roles["ffn"] == first * gated(7168, 18432)
    assert roles["routed_experts"] == (61 - first) * 256 * gated(7168, 2048)
    assert roles["shared_experts"] == (61 - first) * gated(7168, 2048)
    assert roles["router"] == (61 - first) * 7168 * 256


def test_all_experts_chosen_are_all_active() -> None:
    found = counted("mixtral", "8x7B", K=8)
    assert found.params.active.number == found.params.total.number == 46_702_792_704


def test_sparse_attention_adds_the_indexer_and_its_key() -> None:
    dense, sparse = counted("deepseek-v3", "V3"), counted("deepseek-v3.2", "V3.2")
    indexer = 1536 * 64 * 128 + 7168 * 128 + 2 * 128 + 7168 * 64
    assert indexer == 13_959_424
    assert sparse.params.total.number - dense.params.total.number == 61 * indexer
    assert sparse.kv_cache.per_token.number - dense.kv_cache.per_token.number == 61 * 128


def test_active_weights_of_gpt_oss() -> None:
    """Active weights of gpt-oss without the lookup of the embedding, as its card gives them."""
    oss = counted("gpt-oss", "120b")
    assert oss.params.active.number - by_role(oss)["embed_token"] == 5_132_849_472
    small = counted("gpt-oss", "20b")
    assert small.params.active.number - by_role(small)["embed_token"] == 3_608_307_264


# -- Gemma 4 ---------------------------------------------------------------------------------------


def test_sharing_layers_keep_nothing() -> None:
    """E2B: 12 window layers of 2 x 256 numbers and 3 full ones of 2 x 512, of 35 layers."""
    assert counted("gemma4", "E2B").kv_cache.per_token.number == 12 * 512 + 3 * 1024
    everyone = counted("gemma4", "E2B", L_o=35)
    assert everyone.kv_cache.per_token.number == 28 * 512 + 7 * 1024


def test_the_per_layer_table_is_half_of_e2b() -> None:
    found = counted("gemma4", "E2B")
    assert by_role(found)["ple_table"] == 262_144 * 35 * 256
    assert found.params.total.number - by_role(found)["ple_table"] == 2_279_759_104
    e4b = counted("gemma4", "E4B")
    assert e4b.params.total.number - by_role(e4b)["ple_table"] == 4_644_441_088


def test_only_the_small_gemma4_models_have_per_layer_embeddings() -> None:
    for config in ("31B", "26B-A4B"):
        assert not {"ple_table", "ple_projections"} & by_role(counted("gemma4", config)).keys()


# -- several tokens at once ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "total", "active", "cache"),
    [
        # DeepSeek-V3 (arXiv:2412.19437), GLM-4.5 and GLM-4.5-Air (arXiv:2508.06471), one module
        # each; embedding and output matrix are the main model's
        ("deepseek-v3", 11_610_067_968, 688_100_352, 576),
        ("glm-4.5", 3_988_069_632, 401_939_712, 2048),
        ("glm-4.5-air", 2_375_059_456, 298_878_976, 2048),
    ],
)
def test_one_chained_module(config: str, total: int, active: int, cache: int) -> None:
    found = counted("mtp-module", config)
    assert found.params.total.number == total
    assert found.params.active.number == active
    assert found.kv_cache.per_token.number == cache


@pytest.mark.parametrize(
    ("config", "main", "module", "both"),
    [
        ("deepseek-v3", ("deepseek-v3", "V3"), 11_610_067_968, 682_636_472_320),
        ("glm-4.5", ("glm-4.5", "355B"), 3_988_069_632, 356_785_884_416),
        ("glm-4.5-air", ("glm-4.5", "Air"), 2_375_059_456, 109_227_304_960),
    ],
)
def test_chained_modules_share_embedding_and_head(
    config: str, main: tuple[str, str], module: int, both: int
) -> None:
    found = counted("mtp-chained", config)
    assert found.params.total.number == both
    assert both - counted(*main).params.total.number == module
    three = counted("mtp-chained", config, D=3)
    assert three.params.total.number == both + 2 * module
    assert by_role(three)["embed_token"] == by_role(found)["embed_token"]
    assert by_role(three)["lm_head"] == by_role(found)["lm_head"]


def test_the_projection_of_a_module() -> None:
    assert by_role(counted("mtp-module", "deepseek-v3"))["mtp_projection"] == 102_760_448


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_parallel_heads_cost_what_the_layers_they_replace_cost(n: int) -> None:
    """The shape of Llama-2-7B: 28 layers and 4 heads weigh as much as 32 layers."""
    assert counted("mtp-parallel", "7B", n=n).params.total.number == 6_738_415_616


def test_eagle3_trains_less_than_half_of_what_it_holds() -> None:
    found = counted("eagle3", "llama3.1-8b")
    assert found.params.trainable.number == 424_689_664
    assert found.params.frozen.number == 128_256 * 4096


# -- all of them -----------------------------------------------------------------------------------

MODELS = sorted({row.spec for row in TABLE} | {"mtp-chained", "mtp-parallel", "gemma-ple"})


@pytest.mark.parametrize("id_", MODELS)
def test_every_model_says_where_it_comes_from(id_: str) -> None:
    spec = LIBRARY.get(id_)
    for part in (spec.caption, spec.family, spec.tags, spec.builds_on, spec.configs):
        assert part
    assert spec.source.title
    assert spec.source.arxiv or spec.source.note or spec.source.url


@pytest.mark.parametrize("id_", MODELS)
def test_every_config_counts(id_: str) -> None:
    for config in LIBRARY.get(id_).configs:
        found = counted(id_, config)
        assert not found.missing
        assert found.params.total.number == sum(by_role(found).values())
