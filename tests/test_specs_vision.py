"""The bundled figures of vision and of vision with language: parameters and MACs to the last one.

The totals were measured on library classes of these models under their published configurations
(timm, transformers, torchvision, the authors' code), where each also follows from a closed formula.
"""

from __future__ import annotations

import pytest
from published import LIBRARY, by_role, counted

from transformer_diagrams.count import inspect


def total(id_: str, config: str | None = None, **sizes: object) -> int | None:
    return counted(id_, config, **sizes).params.total.number


def roles(id_: str, config: str | None = None) -> dict[str, int | None]:
    return by_role(counted(id_, config))


TOTALS = (
    ("vit", "Ti16", 5_717_416),
    ("vit", "S16", 22_050_664),
    ("vit", "B32", 88_224_232),
    ("vit", "B16", 86_567_656),
    ("vit", "B16-384", 86_859_496),
    ("vit", "L16", 304_326_632),
    ("vit", "H14", 632_045_800),
    ("deit", "Ti", 5_910_800),
    ("deit", "S", 22_436_432),
    ("deit", "B", 87_338_192),
    ("deit-inference", "Ti", 5_910_800),
    ("deit-inference", "S", 22_436_432),
    ("deit-inference", "B", 87_338_192),
    ("swin", "T", 28_288_354),
    ("swin", "S", 49_606_258),
    ("swin", "B", 87_768_224),
    ("swin", "L", 196_532_476),
    ("mae", "B16", 111_907_840),
    ("mae", "L16", 329_541_888),
    ("mae", "H14", 657_074_508),
    ("resnet50", "224", 25_557_032 - (2048 * 1000 + 1000)),  # without the classifier
    ("resnet50", "frozen", 23_454_912),  # the backbone of DETR
    # CLIP's: 3 x 3 convolutions of 3, 32 and 32 channels in place of one of 7 x 7
    ("resnet50", "clip", 23_508_032 - 49 * 3 * 64 + 9 * (3 * 32 + 32**2 + 32 * 64) + 4 * 32),
    ("clip", "B32", 151_277_313),
    ("clip", "B16", 149_620_737),
    ("clip", "L14", 427_616_513),
    ("clip", "L14-336", 427_944_193),
    ("llava", "7B", 303_179_776 + 4_198_400 + 6_738_415_616),
    ("llava", "7B-padded", 303_179_776 + 4_198_400 + 6_738_415_616 + 2 * 64 * 4096),
    ("llava", "13B", 303_179_776 + 5_248_000 + 13_015_864_320),
    ("llava-1.5", "7B", 7_062_902_784),
    ("llava-1.5", "7B-padded", 7_063_427_072),
    ("llava-1.5", "13B", 303_507_456 + 31_467_520 + 13_015_864_320),
)


def attention(width: int) -> int:
    """Four square maps with biases."""
    return 4 * (width**2 + width)


def block(width: int) -> int:
    """Of ViT and Swin, without relative positions: attention, an FFN of four widths, two norms."""
    return attention(width) + 8 * width**2 + 5 * width + 4 * width


# Parts, by the arithmetic of their sizes; a batch norm has a gain and a bias for each channel.
PARTS = (
    ("bottleneck", "res2", 2 * 256 * 64 + 9 * 64**2 + 2 * (64 + 64 + 256)),
    ("bottleneck-down", "res3",
     256 * 128 + 9 * 128**2 + 128 * 512 + 256 * 512 + 2 * (128 + 128 + 512 + 512)),
    ("bottleneck-down", "clip-res3",
     256 * 128 + 9 * 128**2 + 128 * 512 + 256 * 512 + 2 * (128 + 128 + 512 + 512)),
    ("vit-block", "base", block(768)),
    ("vit-block", "large", block(1024)),
    # four gains of LayerNorm, two of LayerScale, and three maps with biases
    ("vit-block", "dinov2-g", attention(1536) + 6 * 1536 + 3 * 1536 * 4096 + 2 * 4096 + 1536),
    ("window-attention", "swin-t-1", attention(96) + 13**2 * 3),
    ("window-attention", "swin-t-1-shifted", attention(96) + 13**2 * 3),
    ("patch-merging", "swin-t-1", 8 * 96 + 8 * 96**2),
    ("swin-stage", "swin-t-1", 2 * (block(96) + 13**2 * 3)),
    ("swin-stage", "swin-t-3", 6 * (block(384) + 13**2 * 12)),
)


@pytest.mark.parametrize(("spec", "config", "wanted"), [*TOTALS, *PARTS])
def test_a_published_total(spec: str, config: str, wanted: int) -> None:
    assert total(spec, config) == wanted


def test_weights_by_role() -> None:
    assert roles("vit", "B16") == {
        "attention": 28_348_416, "embed_position": 151_296, "ffn": 56_669_184, "head": 769_000,
        "norm": 38_400, "patch_embed": 590_592, "special_tokens": 768,
    }
    assert roles("swin", "T") == {
        "attention": 8_643_840, "attention_rpb": 23_322, "ffn": 17_274_432, "head": 769_000,
        "norm": 24_768, "patch_embed": 4704, "patch_merging": 1_548_288,
    }
    assert roles("mae", "B16") == {
        "attention": 28_348_416 + 8_404_992, "decoder_input": 393_728,
        "ffn": 56_669_184 + 16_797_696, "mask_token": 512, "norm": 38_400 + 17_408,
        "patch_embed": 590_592, "pixel_head": 393_984, "position_fixed": 151_296 + 100_864,
        "special_tokens": 768,
    }
    assert roles("clip", "L14") == {
        "attention": 100_761_600 + 28_348_416, "embed_token": 37_945_344,
        "ffn": 201_449_472 + 56_669_184, "image_cls": 1024, "image_patch_embed": 602_112,
        "image_position": 263_168, "image_projection": 786_432, "logit_scale": 1,
        "norm": 102_400 + 38_400, "text_position": 59_136, "text_projection": 589_824,
    }
    assert roles("llava", "13B")["adapter"] == 5_248_000
    assert roles("llava-1.5", "13B")["adapter"] == 31_467_520


@pytest.mark.parametrize(
    ("spec", "config", "wanted"),
    [
        ("vit", "B16", 17_563_828_224),
        ("vit", "B32", 4_409_186_304),
        ("vit", "L16", 61_554_712_576),
        ("deit-inference", "Ti", 1_261_003_776),
        ("deit-inference", "S", 4_624_140_288),
        ("deit-inference", "B", 17_656_811_520),
        ("swin", "T", 4_490_566_656),
        ("swin", "S", 8_740_875_264),
        ("swin", "B", 15_430_946_816),
        ("resnet50", "224", 4_089_184_256 - 2048 * 1000),  # torchvision's 4.089 G, less the head
    ],
)
def test_measured_multiply_adds(spec: str, config: str, wanted: int) -> None:
    assert counted(spec, config).macs.number == wanted


# The roles of each record, in this order; a distilled model's two heads are one role.
ROLES = {
    "vit": ("special_tokens", "embed_position", "patch_embed", "norm", "attention", "ffn", "head"),
    "swin": ("patch_embed", "norm", "attention_rpb", "attention", "ffn", "patch_merging", "head"),
    "mae": ("special_tokens", "mask_token", "patch_embed", "decoder_input", "pixel_head",
            "position_fixed", "norm", "attention", "ffn"),
    "clip": ("image_cls", "image_patch_embed", "image_position", "image_projection",
             "text_position", "text_projection", "embed_token", "logit_scale", "norm",
             "attention", "ffn"),
}
ROLES["deit"] = ROLES["vit"]
BY_ROLE = (
    ("vit", "Ti16", (192, 37_824, 147_648, 9600, 1_778_688, 3_550_464, 193_000)),
    ("vit", "S16", (384, 75_648, 295_296, 19_200, 7_096_320, 14_178_816, 385_000)),
    ("vit", "B16", (768, 151_296, 590_592, 38_400, 28_348_416, 56_669_184, 769_000)),
    ("vit", "B32", (768, 38_400, 2_360_064, 38_400, 28_348_416, 56_669_184, 769_000)),
    ("vit", "B16-384", (768, 443_136, 590_592, 38_400, 28_348_416, 56_669_184, 769_000)),
    ("vit", "L16", (1024, 201_728, 787_456, 100_352, 100_761_600, 201_449_472, 1_025_000)),
    ("vit", "H14", (1280, 328_960, 753_920, 166_400, 209_879_040, 419_635_200, 1_281_000)),
    ("deit", "Ti", (384, 38_016, 147_648, 9600, 1_778_688, 3_550_464, 386_000)),
    ("deit", "S", (768, 76_032, 295_296, 19_200, 7_096_320, 14_178_816, 770_000)),
    ("deit", "B", (1536, 152_064, 590_592, 38_400, 28_348_416, 56_669_184, 1_538_000)),
    ("swin", "T", (4704, 24_768, 23_322, 8_643_840, 17_274_432, 1_548_288, 769_000)),
    ("swin", "S", (4704, 43_200, 47_658, 15_740_160, 31_453_248, 1_548_288, 769_000)),
    ("swin", "B", (6272, 57_600, 63_544, 27_966_464, 55_896_832, 2_752_512, 1_025_000)),
    ("swin", "L", (9408, 86_400, 95_316, 62_888_448, 125_722_752, 6_193_152, 1_537_000)),
    ("mae", "B16", (768, 512, 590_592, 393_728, 393_984, 252_160, 55_808, 36_753_408, 73_466_880)),
    ("mae", "L16", (1024, 512, 787_456, 524_800, 393_984, 302_592, 117_760, 109_166_592,
     218_247_168)),
    ("mae", "H14", (1280, 512, 753_920, 655_872, 301_644, 460_544, 183_808, 218_284_032,
     436_432_896)),
    ("clip", "B32", (768, 2_359_296, 38_400, 393_216, 39_424, 262_144, 25_296_896, 1, 65_536,
     40_955_904, 81_865_728)),
    ("clip", "B16", (768, 589_824, 151_296, 393_216, 39_424, 262_144, 25_296_896, 1, 65_536,
     40_955_904, 81_865_728)),
    ("clip", "L14", (1024, 602_112, 263_168, 786_432, 59_136, 589_824, 37_945_344, 1, 140_800,
     129_110_016, 258_118_656)),
    ("clip", "L14-336", (1024, 602_112, 590_848, 786_432, 59_136, 589_824, 37_945_344, 1,
     140_800, 129_110_016, 258_118_656)),
)


@pytest.mark.parametrize(("spec", "config", "wanted"), BY_ROLE)
def test_every_role_of_a_record(spec: str, config: str, wanted: tuple[int, ...]) -> None:
    assert roles(spec, config) == dict(zip(ROLES[spec], wanted, strict=True))


def in_block(spec: str, config: str, path: str) -> int | None:
    found = inspect(LIBRARY.get(spec), LIBRARY, config=config, by_block=True)
    assert found.blocks is not None
    (block,) = [block for _, block in found.blocks.walk() if block.path == path]
    return block.params.number


@pytest.mark.parametrize(
    ("config", "image", "text"),
    [("B32", 85_017_600, 37_804_032), ("B16", 85_017_600, 37_804_032),
     ("L14", 302_211_072, 85_017_600), ("L14-336", 302_211_072, 85_017_600)],
)
def test_attention_and_ffn_of_the_two_towers(config: str, image: int, text: int) -> None:
    """Of B/32 and B/16 the image's is that of ViT-B/16; the text's of L/14 is the same number."""
    for tower, wanted, width in (("image", image, "d_v"), ("text", text, "d_w")):
        blocks = in_block("clip", config, f"columns/{tower}_tower/{tower}_blocks")
        sizes = counted("clip", config).numbers
        norms = 4 * sizes[width] * sizes["L_v" if tower == "image" else "L_w"]
        assert (blocks or 0) - norms == wanted
    vit = roles("vit", "B16")
    assert (vit["attention"] or 0) + (vit["ffn"] or 0) == 85_017_600


@pytest.mark.parametrize(
    ("spec", "tower", "llm"),
    [("llava", 303_179_776, 6_738_415_616), ("llava-1.5", 303_507_456, 6_738_415_616)],
)
def test_the_towers_of_llava(spec: str, tower: int, llm: int) -> None:
    """CLIP's image tower without its projection, at 224 and 336 pixels, and Vicuna-7B alone."""
    assert in_block(spec, "7B", "columns/vision") == tower
    assert in_block(spec, "7B", "columns/language") == llm
    assert roles(spec, "7B-padded")["lm_head"] == 131_334_144


def test_the_parts_of_idefics2() -> None:
    connector = in_block("idefics2", "8B", "columns/vision/connector") or 0
    assert connector == 91_750_400 + 651_468_800
    assert (in_block("idefics2", "8B", "columns/vision") or 0) - connector == 417_792_240
    assert in_block("idefics2", "8B", "columns/language") == 7_110_672_384 + 131_084_288


def test_what_is_trained() -> None:
    """MAE's positions are fixed; LLaVA's image encoder stays frozen in both of its stages."""
    for config, trained in (("B16", 111_655_680), ("L16", 329_239_296), ("H14", 656_613_964)):
        assert counted("mae", config).params.trainable.number == trained
    assert counted("llava", "7B").params.frozen.number == 303_179_776


def test_sizes_that_no_config_has() -> None:
    """Closed formulas of the papers' architectures."""
    d, side, patch = 96, 64, 8
    tokens = (side // patch) ** 2 + 1
    assert total("vit", H=side, P=patch, d_m=d, n_h=4, L=3, C=10) == (
        3 * patch**2 * d + d + d + tokens * d + 3 * (12 * d * d + 13 * d) + 2 * d + 10 * d + 10
    )
    assert total("deit", "Ti") - total("vit", "Ti16") == 2 * 192 + (192 + 1) * 1000
    # a larger image changes nothing in Swin, whose positions are relative to windows
    assert total("swin", "T", H=448) == total("swin", "T")
    assert total("swin", "T", w=8, H=256) - total("swin", "T") == (15**2 - 13**2) * (
        2 * 3 + 2 * 6 + 6 * 12 + 2 * 24
    )


def test_the_attention_of_windows_grows_with_the_area() -> None:
    """Section 3.2 of Swin: 4 hw C^2 + 2 M^2 hw C, where all pairs would take 2 (hw)^2 C."""
    macs = counted("window-attention", "swin-t-1").macs.number
    assert macs == 4 * 56**2 * 96**2 + 2 * 49 * 56**2 * 96


def test_one_system_agrees_with_another() -> None:
    """Differences that follow from the papers, whatever the totals are."""
    assert total("deit", "B") - total("vit", "B16") == 768 + 768 + 769 * 1000
    pair = roles("clip", "L14")
    text = pair["attention"] + pair["ffn"] - 24 * (12 * 1024**2 + 9 * 1024)
    image = roles("vit", "B16")
    assert text == image["attention"] + image["ffn"] == 85_017_600
    assert total("swin", "S") - total("swin", "T") == 12 * (12 * 384**2 + 13 * 384 + 169 * 12)
    adapters = [roles(spec, "7B")["adapter"] for spec in ("llava-1.5", "llava")]
    assert adapters[0] - adapters[1] == 4096**2 + 4096
    # MAE's encoder is ViT without its head; the decoder is the rest
    decoder = 768 * 512 + 512 + 512 + 197 * 512 + 8 * (12 * 512**2 + 13 * 512) + 2 * 512
    encoder = total("mae", "B16") - decoder - (512 * 768 + 768)
    assert encoder == total("vit", "B16") - 769_000 == 85_798_656
