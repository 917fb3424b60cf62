"""Perceivers, detection and vision-language among the bundled specs, to the last parameter.

The numbers are those of the published classes and checkpoints, and each also follows from a closed
formula; roles add up where a record splits a total.
"""

from __future__ import annotations

import numpy as np
import pytest
from published import Published, by_role, counted

import transformer_diagrams as td

TABLE = (
    Published(
        "perceiver", "imagenet", "arXiv:2103.03206, 44.9M", 44_912_254,
        {"latents": 524_288, "cross_attend": 2 * 2_776_395, "latent_transformer": 37_810_176,
         "head": 1_025_000},
    ),
    Published(
        "perceiver-io", "language", "arXiv:2107.14795, language-perceiver", 201_108_230,
        {"latents": 327_680, "queries": 1_572_864, "mlm_bias": 262,
         "embed_token": 262 * 768, "embed_position": 2048 * 768,
         "cross_attend": 3_152_896 + 3_281_920 + 2_103_296 + 1_182_720,
         "latent_transformer": 102_382_592 + 85_329_920},
    ),
    Published(
        "perceiver-io-imagenet", "fourier", "arXiv:2107.14795, vision-perceiver-fourier",
        48_440_627,
        {"latents": 524_288, "queries": 1024, "head": 1_025_000,
         "cross_attend": 675_147 + 2_101_248 + 4_202_496 + 2_101_248,
         "latent_transformer": 25_202_688 + 12_607_488},
    ),
    Published(
        "perceiver-io-imagenet", "learned", "arXiv:2107.14795, vision-perceiver-learned",
        62_255_848,
        {"input": 12_911_872, "latents": 524_288, "queries": 1024, "head": 1_025_000,
         "cross_attend": 1_578_496 + 2_101_248 + 4_202_496 + 2_101_248,
         "latent_transformer": 25_202_688 + 12_607_488},
    ),
    Published(
        "perceiver-io-imagenet", "conv", "arXiv:2107.14795, vision-perceiver-conv", 48_646_522,
        {"input": 9536, "latents": 524_288, "queries": 1024, "head": 1_025_000,
         "cross_attend": 871_506 + 2_101_248 + 4_202_496 + 2_101_248,
         "latent_transformer": 25_202_688 + 12_607_488},
    ),
    Published(
        # The measured module has no time embedding: T d_m more here.
        "perceiver-resampler", "open-flamingo", "open_flamingo, d = 1024",
        63_019_008 + 8 * 1024,
        {"latents": 65_536, "attention": 12_582_912, "ffn": 50_331_648, "norm": 38_912,
         "temporal": 8192},
    ),
    Published(
        "perceiver-resampler", "flamingo", "arXiv:2204.14198, by its stated sizes",
        188_900_352 + 8 * 1536,
    ),
    Published("eva-vit", "g14", "EVA-CLIP ViT-g/14 without its last block", 985_952_256),
    Published("opt-decoder", "2.7B", "arXiv:2205.01068", 2_651_596_800 - 50_272 * 2560),
    Published("qwen3-embedder", "8B", "Qwen3-8B without its head", 8_190_735_360 - 622_329_856),
    Published(
        "qformer-stage1", "base", "arXiv:2301.12597, Blip2Qformer", 186_705_470 + 985_952_256,
        {"embed_token": 23_441_664, "embed_position": 393_216, "embedding_norm": 1536,
         "self_attention": 28_366_848, "cross_attention": 20_081_664, "text_ffn": 56_687_616,
         "query_ffn": 56_687_616, "lm_head": 622_651, "queries": 24_576,
         "itc": 196_864 + 196_864, "itm": 1538, "temperature": 1, "ln_vision": 2816},
    ),
    Published(
        "qformer-stage2", "opt-2.7b", "arXiv:2301.12597, Blip2QFormerModel",
        105_137_664 + 24_576 + 1_968_640 + 2816 + 985_952_256 + 2_651_596_800,
        {"self_attention": 28_366_848, "cross_attention": 20_081_664, "query_ffn": 56_687_616,
         "embedding_norm": 1536, "queries": 24_576, "fc": 1_968_640},
    ),
    Published(
        "qformer-stage2", "opt-6.7b", "arXiv:2301.12597",
        105_137_664 + 24_576 + 3_149_824 + 2816 + 985_952_256 + 6_658_473_984,
    ),
    Published(
        "deformable-attention", "single", "arXiv:2010.04159", 156_256,
        {"offsets": 16_448, "weights": 8224, "value": 65_792, "output": 65_792},
    ),
    Published(
        "multi-scale-deformable-attention", "detr", "arXiv:2010.04159", 230_272,
        {"offsets": 65_792, "weights": 32_896, "value": 65_792, "output": 65_792},
    ),
    Published(
        "detr", "R50", "arXiv:2005.12872, frozen norms as buffers", 41_524_768,
        {"backbone": 23_454_912, "input_proj": 524_544, "queries": 25_600, "class_head": 23_644,
         "box_head": 132_612, "attention": 3 * 1_579_008, "enc_ffn": 6_305_280,
         "dec_ffn": 6_305_280, "norm": 15_872},
    ),
    Published(
        "deformable-detr", "R50", "arXiv:2010.04159, frozen norms as buffers", 40_069_665,
        {"backbone": 23_454_912, "level_embed": 1024, "enc_ffn": 3_153_408,
         "dec_ffn": 3_153_408, "attention": 1_579_008, "norm": 15_360, "reference_head": 514,
         "class_head": 23_387, "box_head": 132_612, "queries": 153_600, "input_proj": 5_639_168,
         "offsets": 12 * 65_792, "weights": 12 * 32_896, "value": 12 * 65_792,
         "output": 12 * 65_792},
    ),
    Published(
        "deformable-detr", "R50-single", "arXiv:2010.04159, one level", 34_066_593,
        {"level_embed": 256, "input_proj": 525_056, "offsets": 12 * 16_448,
         "weights": 12 * 8224, "value": 12 * 65_792, "output": 12 * 65_792},
    ),
    Published(
        "maskformer", "R50", "arXiv:2107.06278, ADE20K", 41_307_863,
        {"backbone": 23_508_032, "pixel_decoder": 7_540_480, "input_proj": 524_544,
         "queries": 25_600, "class_head": 38_807, "mask_mlp": 197_376},
    ),
    # With Swin as the authors' code has it: a port keeps a norm that nothing reads.
    Published(
        "maskformer", "Swin-T", "arXiv:2107.06278, ADE20K", 41_758_545 - 2 * 768,
        {"pixel_decoder": 4_304_640, "input_proj": 196_864, "queries": 25_600,
         "class_head": 38_807, "mask_mlp": 197_376},
    ),
    Published(
        "maskformer", "Swin-B", "arXiv:2107.06278, ADE20K, windows of 12", 101_829_391,
        {"pixel_decoder": 4_951_808, "input_proj": 262_400, "queries": 25_600,
         "class_head": 38_807, "mask_mlp": 197_376},
    ),
    Published("swin-backbone", "T", "arXiv:2103.14030, in MaskFormer", 27_522_234 - 2 * 768),
    Published("swin-backbone", "B", "arXiv:2103.14030, in MaskFormer", 86_882_424 - 2 * 1024),
    Published(
        "mask2former", "R50", "arXiv:2112.01527, COCO panoptic", 44_036_998,
        {"backbone": 23_508_032, "queries": 51_200, "mask_mlp": 197_376, "class_head": 34_438,
         "level_embed": 2 * 768,  # three of the pixel decoder, three of the queries' memory
         "attention": 18 * 263_168},
    ),
    Published("mask2former", "Swin-T", "arXiv:2112.01527, COCO panoptic", 47_436_800 - 2 * 768),
    Published("mask2former-pixel-decoder", "R50", "arXiv:2112.01527", 6_035_904),
    Published("mask2former-pixel-decoder", "Swin-T", "arXiv:2112.01527", 5_421_504),
    Published(  # its own norm and heads beside the nine layers
        "mask2former-decoder", "coco", "arXiv:2112.01527",
        14_209_280 + 51_968 + 197_376 + 34_438,
    ),
    Published("maskformer-pixel-decoder", "R50", "arXiv:2107.06278", 7_540_480),
    Published("maskformer-pixel-decoder", "Swin-T", "arXiv:2107.06278", 4_304_640),
    Published("maskformer-pixel-decoder", "Swin-B", "arXiv:2107.06278", 4_951_808),
    Published(
        "dino-head", "dino-S", "arXiv:2104.14294", 22_352_128,
        {"head": 788_480 + 4_196_352 + 524_544, "prototypes": 16_777_216 + 65_536},
    ),
    *(
        Published("vit-backbone", config, "arXiv:2104.14294", 85_798_656 if wide else 21_665_664,
                  {"special_tokens": 768 if wide else 384,
                   "embed_position": 151_296 if wide else 75_648,
                   "patch_embed": 590_592 if wide else 295_296,
                   "norm": 38_400 if wide else 19_200,
                   "attention": 28_348_416 if wide else 7_096_320,
                   "ffn": 56_669_184 if wide else 14_178_816})
        for config, wide in (("S16", False), ("S16-96", False), ("B16", True))
    ),
    Published(  # as DINOv2's, but without the mask token
        "vit-backbone", "S14-518", "arXiv:2304.07193, timm", 22_056_192,
        {"special_tokens": 384, "embed_position": 526_080, "patch_embed": 226_176,
         "norm": 19_200, "attention": 7_096_320, "layer_scale": 9216, "ffn": 14_178_816},
    ),
    *(
        Published(
            "dinov2-backbone", config, "arXiv:2304.07193", total,
            {"special_tokens": special, "embed_position": 1370 * width,
             "patch_embed": 589 * width, "norm": norm, "attention": attention,
             "layer_scale": scale, "ffn": ffn},
        )
        for config, total, special, width, norm, attention, scale, ffn in (
            ("S14", 22_056_576, 768, 384, 19_200, 7_096_320, 9216, 14_178_816),
            ("S14-reg", 22_058_112, 2304, 384, 19_200, 7_096_320, 9216, 14_178_816),
            ("B14", 86_580_480, 1536, 768, 38_400, 28_348_416, 18_432, 56_669_184),
            ("B14-reg", 86_583_552, 4608, 768, 38_400, 28_348_416, 18_432, 56_669_184),
            ("L14", 304_368_640, 2048, 1024, 100_352, 100_761_600, 49_152, 201_449_472),
            ("L14-reg", 304_372_736, 6144, 1024, 100_352, 100_761_600, 49_152, 201_449_472),
            ("g14", 1_136_480_768, 3072, 1536, 248_832, 377_733_120, 122_880, 755_363_840),
            ("g14-reg", 1_136_486_912, 9216, 1536, 248_832, 377_733_120, 122_880, 755_363_840),
        )
    ),
    # A student, and its average as a teacher.
    Published("dino", "S16", "arXiv:2104.14294", 2 * 44_017_792),
    Published("dino", "B16", "arXiv:2104.14294", 2 * 108_937_216),
    Published("dinov2", "L14", "arXiv:2304.07193", 2 * (304_368_640 + 57_545_088 + 40_505_600)),
    Published("dinov2", "g14", "arXiv:2304.07193", 2 * (
        1_136_480_768 + 57_545_088 + 40_505_600 + 2 * 2048 * (1536 - 1024)
    )),
    Published("dinov2", "L14-shared", "arXiv:2304.07193", 2 * (304_368_640 + 23_662_848)),
    Published("dino-head", "dino-B", "arXiv:2104.14294", 23_138_560),
    Published("dino-head", "dinov2-shared", "arXiv:2304.07193", 23_662_848),
    Published("dino-head", "dinov2-L14-dino", "arXiv:2304.07193", 57_545_088),
    Published("dino-head", "dinov2-L14-ibot", "arXiv:2304.07193", 40_505_600),
    Published(
        "siglip", "B16", "arXiv:2303.15343, SigLIP B/16-224", 203_155_970,
        {"logit_scale": 1, "logit_bias": 1, "embed_token": 24_576_000, "text_position": 49_152,
         "norm": 38_400 + 38_400, "attention": 28_348_416 + 28_348_416,
         "ffn": 56_669_184 + 56_669_184, "text_projection": 590_592,
         "image_patch_embed": 590_592, "image_position": 150_528, "attention_pool": 7_087_104},
    ),
    Published(  # more positions alone
        "siglip", "B16-384", "arXiv:2303.15343", 203_155_970 + (24**2 - 14**2) * 768,
    ),
    Published(
        "clip-rn50", "RN50", "arXiv:2103.00020, openai/CLIP", 102_007_137,
        {"text_position": 39_424, "text_projection": 524_288, "logit_scale": 1,
         "attention": 12_607_488, "norm": 25_600, "ffn": 25_196_544, "embed_token": 25_296_896,
         "backbone": 38_316_032 + 864 - 14_789_632, "attention_pool": 14_789_632},
    ),
    Published(
        "idefics2-connector", "8B", "arXiv:2405.02246, idefics2-8b", 743_219_200,
        {"projection": 91_750_400, "latents": 64 * 4096, "norm": 28_672 + 274_432 - 64 * 4096,
         "attention": 47_185_920, "ffn": 603_979_776},
    ),
    Published("idefics2", "8B", "arXiv:2405.02246, idefics2-8b", 8_402_768_112,
              {"projection": 91_750_400, "lm_head": 131_084_288}),
    Published(
        "clm", "8B", "CLM-v0.1-8B, without the unused head", 18_887_681 + 7_568_405_504,
        {"heads": 2 * 9_443_840, "logit_scale": 1},
    ),
)


def square(width: int, maps: int = 1) -> int:
    """Square maps with biases."""
    return maps * (width**2 + width)


# Parts, by the arithmetic of their sizes; a matching or a loss has no weights.
FFN = 2 * 768 * 3072 + 3072 + 768 + 2 * 768
SELF = square(768, 4) + 2 * 768
CROSS = square(768, 2) + 2 * (1408 * 768 + 768) + 2 * 768
PARTS = {
    ("clm-head", "8B"): 9_443_840,
    ("map-head", "siglip-B16"): 7_087_104,
    ("dino-loss", "multi-crop"): 0,
    ("three-level-deformable-attention", "coco"): square(256, 2) + 3 * 3 * 4 * 8 * 257,
    ("mask2former-heads", "coco"): 2 * 256 + 134 * 257 + square(256, 3),
    ("mask2former-layer", "coco-32"): (
        square(256, 8) + 2 * 256 * 2048 + 2048 + 256 + 3 * 2 * 256
    ),
    ("masked-cross-attention", "coco-32"): square(256, 4),
    ("memory-of-level", "coco-32"): 256,
    ("mask-of-level", "coco-32"): 0,
    ("level-tokens", "C5"): 2048 * 256 + 256 + 2 * 256 + 256,
    ("level-tokens", "C6"): 2 * 256 + 256,
    ("focal-class-cost", "coco"): 0,
    ("deformable-detr-matcher", "coco"): 0,
    ("deformable-detr-set-loss", "coco"): 0,
    ("ibot-loss", "L14"): 0,
    ("attention-pool", "RN50"): (  # a row for each place and one for their mean; four maps
        50 * 2048 + square(2048, 3) + 2048 * 1024 + 1024
    ),
    ("cross-attend", "imagenet"): 2_776_395,
    ("latent-transformer", "imagenet"): 37_810_176,
    ("detr-self", "encoder"): square(256, 4),
    ("detr-cross", "decoder"): square(256, 4),
    ("mha-qkv", "detr"): square(256, 4),
    ("mha-qkv", "q-former"): square(768, 2) + 2 * (1408 * 768 + 768),
    ("mlp3", "box"): square(256, 2) + 4 * 256 + 4,
    ("opt-decoder", "6.7B"): 6_658_473_984 - 50_272 * 4096,
    ("qformer-self", "base"): SELF,
    ("qformer-plain-block", "base"): SELF + FFN,
    ("qformer-block", "base"): SELF + CROSS + FFN,
    ("qformer-joint-plain", "base"): SELF + 2 * FFN,
    ("qformer-joint-block", "base"): SELF + CROSS + 2 * FFN,
    ("qformer-trunk", "base"): 12 * (SELF + 2 * FFN) + 6 * CROSS,
    ("itm-triples", "base"): 0,
    ("detr-box-cost", "coco"): 0,
    ("detr-box-loss", "coco"): 0,
    ("detr-matcher", "coco"): 0,
    ("detr-set-loss", "coco"): 0,
    ("maskformer-mask-loss", "ade20k"): 0,
    ("maskformer-matcher", "ade20k"): 0,
    ("maskformer-set-loss", "ade20k"): 0,
}


@pytest.mark.parametrize("size", PARTS, ids="-".join)
def test_parts_by_the_arithmetic_of_their_sizes(size: tuple[str, str]) -> None:
    assert counted(*size).params.total.number == PARTS[size]


@pytest.mark.parametrize("model", TABLE, ids=lambda m: f"{m.spec}-{m.config}")
def test_a_published_model_counts_to_the_last_parameter(model: Published) -> None:
    found = counted(model.spec, model.config)
    assert found.params.total.number == model.total
    roles = by_role(found)
    assert {role: roles.get(role) for role in model.roles} == model.roles
    assert sum(n for n in roles.values() if n) == model.total


@pytest.mark.parametrize(
    ("spec", "config", "trained"),
    [
        ("clm", "8B", 18_887_681),
        ("detr", "R50", 41_302_368),  # without the backbone's stem and first stage
        ("deformable-detr", "R50", 39_847_265),
        ("deformable-detr", "R50-single", 33_844_193),
        ("dino", "S16", 43_952_256),  # the gains of the prototypes are not
        ("dino", "B16", 108_871_680),
        ("dinov2", "L14-shared", 304_368_640 + 23_662_848),
        ("qformer-stage1", "base", 186_705_470),
        ("qformer-stage2", "opt-2.7b", 105_137_664 + 24_576 + 1_968_640 + 2816),
    ],
)
def test_what_is_trained_beside_frozen_models(spec: str, config: str, trained: int) -> None:
    assert counted(spec, config).params.trainable.number == trained


def test_a_teacher_is_an_average_of_all_that_its_student_has() -> None:
    params = counted("dino", "S16").params
    assert params.averaged.number == 44_017_792
    assert params.frozen.number == 65_536
    assert counted("dinov2", "L14").params.averaged.number == (
        304_368_640 + 57_545_088 + 40_505_600
    )


def test_what_the_second_stage_leaves_out() -> None:
    """Text FFNs, embeddings and the LM head."""
    first, second = by_role(counted("qformer-stage1", "base")), by_role(
        counted("qformer-stage2", "opt-2.7b")
    )
    gone = ("text_ffn", "embed_token", "embed_position", "lm_head")
    assert sum(first[role] or 0 for role in gone) == 81_145_147
    assert not set(gone) & set(second)
    kept = ("self_attention", "cross_attention", "query_ffn", "queries", "embedding_norm")
    assert all(first[role] == second[role] for role in kept)


def test_losses_of_a_batch_are_of_all_its_pairs() -> None:
    """[B, B] in truth: the products of all pairs grow with the square of the batch."""
    one, two, four = (
        counted("clm", "8B", B=b).macs.number or 0 for b in (1, 2, 4)
    )
    assert (two - 2 * one, four - 4 * one) == ((4 - 2) * 512, (16 - 4) * 512)


def test_a_backbone_of_dino_is_a_vision_transformer_without_its_head() -> None:
    backbone = counted("vit-backbone", "S16").params.total.number
    assert (backbone or 0) + 385_000 == counted("vit", "S16").params.total.number == 22_050_664


def test_a_port_of_dinov2_leaves_out_a_token_and_a_row() -> None:
    """timm's has no mask token and, with registers, no position of [CLS]."""
    ours = counted("dinov2-backbone", "S14-reg").params.total.number
    assert (ours or 0) - 2 * 384 == 22_057_344


def test_the_transformer_of_detr_alone() -> None:
    roles = by_role(counted("detr", "R50"))
    parts = ("attention", "enc_ffn", "dec_ffn", "norm")
    assert sum(roles[role] or 0 for role in parts) == 17_363_456
    alone = ("backbone", "class_head", "box_head", "queries", "input_proj")
    for config, transformer in (("R50", 10_665_986), ("R50-single", 9_777_026)):
        roles = by_role(counted("deformable-detr", config))
        assert sum(n or 0 for role, n in roles.items() if role not in alone) == transformer


def test_the_multiply_adds_of_a_backbone() -> None:
    """Measured at 518 pixels with a head of 1000 classes, which is none of the backbone's."""
    assert (counted("vit-backbone", "S14-518").macs.number or 0) + 384 * 1000 == 46_697_123_328


def test_views_that_are_compared() -> None:
    """Two views of the teacher, ten of the student, [B, K] each: as many products as pairs."""
    sizes = {"B": 3, "n_t": 2, "n_s": 10, "K": 7}
    assert counted("dino-loss", None, **sizes).macs.number == 2 * 10 * 3 * 7


def test_levels_add_points_alone() -> None:
    one = counted("deformable-attention", "single").params.total.number
    four = counted("multi-scale-deformable-attention", "detr").params.total.number
    assert (four or 0) - (one or 0) == 3 * (4 - 1) * 4 * 8 * (256 + 1) == 74_016


def test_the_decoder_of_maskformer_is_that_of_detr() -> None:
    """An encoder layer less is one attention and one norm less than a decoder layer."""
    whole, mask = by_role(counted("detr", "R50")), by_role(counted("maskformer", "R50"))
    assert (mask["attention"] or 0) + (mask["dec_ffn"] or 0) + (mask["norm"] or 0) == 9_473_024
    encoder = (whole["attention"] or 0) - (mask["attention"] or 0) + (whole["enc_ffn"] or 0)
    encoder += (whole["norm"] or 0) - (mask["norm"] or 0)
    assert 9_473_024 - 512 - encoder == 6 * 263_680  # the last norm is the decoder's


def test_tokens_of_an_image_as_published() -> None:
    """800 x 1066 pixels: 850 tokens at 1/32, 17,821 on four levels."""
    assert 25 * 34 == 850
    levels = counted("multi-scale-deformable-attention", "detr")
    assert levels.numbers["S"] == 17_821


def test_what_perceiver_io_has_and_perceiver_has_not() -> None:
    """One cross-attend less, and a decoder with its query more."""
    perceiver = counted("perceiver", "imagenet").params.total.number
    assert perceiver is not None
    assert counted("perceiver-io-imagenet", "fourier").params.total.number == (
        perceiver - 2_776_395 + 6_303_744 + 1024
    )


def test_sizes_that_no_config_has() -> None:
    """The closed form of a cross-attend and of a latent layer, at odd sizes."""
    d, i, layers = 40, 21, 3
    found = by_role(counted("perceiver", None, N=100, M=7, d_i=i, d_l=d, L=layers, n_r=3, C=11))
    cross = 2 * d + 2 * i + d * i + i + 2 * (i * i + i) + i * d + d + 2 * d + 2 * (d * d + d)
    assert found["cross_attend"] == 2 * cross
    assert found["latent_transformer"] == layers * (6 * d * d + 10 * d)


def vit_block(d: int) -> int:
    return 12 * d * d + 13 * d


# Sizes that no config sets, against the closed formulas of the papers' architectures.
UNSEEN = (
    ("dinov2-backbone", {"d_m": 48, "n_h": 4, "L": 3, "r": 7, "P": 8, "H": 64, "G": 9,
                         "registers": True},
     3 * 64 * 48 + 48 + 48 + 48 + 7 * 48 + (81 + 1) * 48 + 3 * (vit_block(48) + 2 * 48) + 2 * 48),
    ("dino-head", {"d_m": 20, "d_h": 30, "d_b": 8, "K": 50},
     20 * 30 + 30 + square(30) + 30 * 8 + 8 + 50 * 8 + 50),
    ("siglip", {"d_m": 64, "n_h": 4, "L": 2, "P": 8, "H": 32, "V": 100, "T": 9},
     3 * 64 * 64 + 64 + 16 * 64 + 100 * 64 + 9 * 64 + 4 * vit_block(64) + 2 * 128
     + vit_block(64) - 2 * 64 + 64 + square(64) + 2),
    ("idefics2-connector", {"N": 11, "d_v": 6, "d_p": 20, "d_m": 8, "R": 5, "n_h": 4, "n_g": 2,
                            "d_K": 3, "d_h": 24, "L": 2},
     2 * 6 * 20 + 20 * 8 + 5 * 8 + 2 * (2 * 8 * 12 + 2 * 8 * 6 + 3 * 8 + 3 * 8 * 24) + 8),
    ("deformable-detr", {"a": 3, "b": 5, "N_q": 7, "n_o": 2, "d_m": 64, "n_h": 4, "K": 3, "L": 2,
                         "d_h": 96, "C": 11},
     23_454_912 + 64 * (512 + 1024 + 2048 + 9 * 2048 + 4) + 4 * 2 * 64 + 4 * 64
     + 4 * (square(64, 2) + 3 * 4 * 3 * 4 * 65) + 2 * square(64, 4)
     + 4 * (2 * 64 * 96 + 96 + 64) + 10 * 2 * 64 + 7 * 128 + 65 * 2 + 65 * 11
     + square(64, 2) + 65 * 4),
    ("mask2former-decoder", {"a": 2, "b": 3, "N_q": 9, "d_m": 32, "d_e": 16, "n_h": 4, "d_h": 40,
                             "R": 2, "C": 5},
     6 * (square(32, 8) + 2 * 32 * 40 + 40 + 32 + 6 * 32) + 2 * 32 + 2 * 9 * 32 + 3 * 32
     + 33 * 6 + square(32, 2) + 33 * 16),
    ("perceiver-io-imagenet", {"input": "learned", "H": 8, "M": 5, "d_p": 10, "d_l": 24, "n_h": 2,
                               "L": 3, "n_b": 4, "C": 7},
     4 * 10 + 64 * 10 + square(10) + 5 * 24 + 24 + 3 * (6 * 24**2 + 10 * 24) + 25 * 7
     + (2 * 24 + 2 * 20 + 25 * 20 + square(20, 2) + 21 * 24 + 2 * 24 + square(24, 2))
     + (4 * 24 + square(24, 4) + 2 * 24 + square(24, 2))),
)


@pytest.mark.parametrize(("spec", "sizes", "wanted"), UNSEEN)
def test_unseen_sizes(spec: str, sizes: dict[str, object], wanted: int) -> None:
    assert counted(spec, None, **sizes).params.total.number == wanted


RNG = np.random.default_rng(3)


def test_the_class_cost_of_a_match_is_that_of_being_right_less_that_of_being_wrong() -> None:
    logits, classes = RNG.normal(size=(6, 5)), np.array([4, 0, 4])
    inputs = {"logits": logits, "classes": classes}
    found = td.load("focal-class-cost").run(inputs, set={"N_q": 6, "n_o": 3, "C": 5})
    p = 1 / (1 + np.exp(-logits[:, classes]))
    right, wrong = -0.25 * (1 - p) ** 2 * np.log(p), -0.75 * p**2 * np.log(1 - p)
    assert np.allclose(found.outputs["cost"], right - wrong)


def test_the_loss_of_dino_leaves_out_the_pairs_of_one_crop() -> None:
    logits, targets = RNG.normal(size=(4, 3, 7)), RNG.random(size=(2, 3, 7))
    targets /= targets.sum(-1, keepdims=True)
    shares = (1 - np.eye(2, 4)) / 6 / 3  # six pairs, three images
    found = td.load("dino-loss").run(
        {"logits": logits, "targets": targets}, {"weights.value": shares},
        set={"B": 3, "n_s": 4, "n_t": 2, "K": 7},
    )
    wanted = 0.0
    for i in range(2):
        for j in range(4):
            if i != j:
                scaled = np.exp(logits[j] / 0.1)
                logs = np.log(scaled / scaled.sum(-1, keepdims=True))
                wanted -= (targets[i] * logs).sum() / 6 / 3
    assert np.allclose(found.outputs["loss"], wanted)
