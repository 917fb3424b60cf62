"""The ops of images, windows and samples: each value against a loop of its definition, or SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage, signal

from transformer_diagrams.ops import registry
from transformer_diagrams.ops.execute import call, run
from transformer_diagrams.ops.grid import resampling
from transformer_diagrams.ops.registry import OpFault

RNG = np.random.default_rng(1)


def normal(*size: int) -> np.ndarray:
    return RNG.normal(size=size)


def one(name: str, *inputs: Any, weights: Any = None, **attrs: Any) -> np.ndarray:
    (y,) = run(name, inputs, attrs, weights or {})
    return np.asarray(y)


def fault(name: str, inputs: list[Any], **attrs: Any) -> str:
    c = call(name, inputs, attrs)
    with pytest.raises(OpFault) as caught:
        c.op.shape(c)
    return caught.value.message


# -- patches --------------------------------------------------------------------------------------


def test_a_patch_embedding_is_a_convolution_whose_stride_is_its_kernel() -> None:
    x, w, b = normal(2, 3, 8, 12), normal(4 * 4 * 3, 5), normal(5)
    y = one("patch_embed", x, weights={"W": w, "b": b}, patch=4, width=5)
    kernel = w.reshape(4, 4, 3, 5).transpose(3, 2, 0, 1)
    maps = one("conv2d", x, weights={"W": kernel, "b": b}, out=5, kernel=4, stride=4)
    assert np.allclose(y, maps.reshape(2, 5, 6).swapaxes(-1, -2))


def test_patches_lie_row_by_row_and_come_back_together() -> None:
    x = normal(3, 4, 6)
    cut = one("patchify", x, patch=2)
    for patch, place in np.ndindex(6, 12):
        (i, j), (p, q, channel) = divmod(patch, 3), np.unravel_index(place, (2, 2, 3))
        assert cut[patch, place] == x[channel, 2 * i + p, 2 * j + q]
    assert np.array_equal(one("unpatchify", cut, patch=2, height=4, width=6), x)
    assert "the patches must fill the image" in fault(
        "unpatchify", [[5, 12]], patch=2, height=4, width=6
    )
    assert "axis 3 of x: 30 is not divisible by 16" in fault(
        "patch_embed", [[3, 32, 30]], patch=16, width=8
    )


# -- convolutions ---------------------------------------------------------------------------------


def test_a_convolution_with_any_kernel_agrees_with_scipy() -> None:
    x, w = normal(2, 9, 11), normal(3, 2, 3, 1)
    y = one("conv2d", x, weights={"W": w}, out=3, kernel=3, kernel_width=1, stride=2,
            stride_width=1, pad=1, pad_width=0, dilation=2, bias=False)
    spread = np.zeros([3, 2, 5, 1])
    spread[:, :, ::2] = w
    padded = np.pad(x, [(0, 0), (1, 1), (0, 0)])
    wanted = [sum(signal.correlate(padded[c], spread[o, c], "valid") for c in range(2))[::2]
              for o in range(3)]
    assert np.allclose(y, wanted)


@pytest.mark.parametrize(("causal", "pad"), [(True, 0), (False, 2)])
def test_a_convolution_of_a_sequence_reads_what_it_says(causal: bool, pad: int) -> None:
    x, w, b = normal(4, 9), normal(6, 2, 3), normal(6)
    y = one("conv1d", x, weights={"W": w, "b": b}, out=6, kernel=3, groups=2, dilation=2,
            pad=pad, causal=causal)
    first = -4 if causal else -pad
    for o, t in np.ndindex(*y.shape):
        total = b[o]
        for c, k in np.ndindex(2, 3):
            at = t + first + 2 * k
            total += w[o, c, k] * (x[2 * (o // 3) + c, at] if 0 <= at < 9 else 0)
        assert np.isclose(y[o, t], total)
    assert y.shape == (6, 9)


def test_a_kernel_that_does_not_fit_is_told_with_its_reach() -> None:
    message = fault("conv2d", [[3, 5, 9]], out=4, kernel=3, dilation=3)
    assert "kernel (3), which reaches over 7 with dilation 3," in message
    assert "axis 2 of x = 5" in message


# -- norms of channels ----------------------------------------------------------------------------


def test_channels_are_normed_alone_in_groups_and_over_the_batch() -> None:
    x, gain, bias = normal(2, 6, 3, 4), normal(6), normal(6)
    weights = {"gain": gain, "bias": bias}
    y = one("group_norm", x, weights=weights, groups=3, eps=1e-5)
    for b, channel in np.ndindex(2, 6):
        group = x[b, 2 * (channel // 2) : 2 * (channel // 2) + 2]
        wanted = (x[b, channel] - group.mean()) / np.sqrt(group.var() + 1e-5)
        assert np.allclose(y[b, channel], wanted * gain[channel] + bias[channel])
    y = one("batch_norm", x, weights=weights)
    for channel in range(6):
        wanted = (x[:, channel] - x[:, channel].mean()) / np.sqrt(x[:, channel].var() + 1e-5)
        assert np.allclose(y[:, channel], wanted * gain[channel] + bias[channel])


def test_a_frozen_batch_norm_learns_nothing_and_is_a_scale_and_a_sum() -> None:
    c = call("batch_norm", [[64, 8, 8]], {"frozen": True})
    assert c.op.params(c).as_int() == 0
    assert c.op.flops(c).as_int() == 2 * 64 * 8 * 8
    x, names = normal(4, 2, 2), ("mean", "variance", "gain", "bias")
    given = {name: abs(normal(4)) for name in names}
    mean, variance, gain, bias = (given[name][:, None, None] for name in names)
    wanted = gain * (x - mean) / np.sqrt(variance + 1e-5) + bias
    assert np.allclose(one("batch_norm", x, weights=given, frozen=True), wanted)
    with pytest.raises(OpFault, match="'mean' of 'batch_norm'"):
        run("batch_norm", [x], {"frozen": True}, {})


def test_groups_divide_the_channels() -> None:
    assert "axis 1 of x: 48 is not divisible by 32" in fault("group_norm", [[48, 8, 8]])


# -- other resolutions ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["max", "mean"])
def test_pooling_takes_each_window(kind: str) -> None:
    x = normal(2, 7, 6)
    y = one("pool2d", x, kernel=3, stride=2, pad=1, kind=kind)
    for channel, i, j in np.ndindex(*y.shape):
        seen = [x[channel, a, b] if 0 <= a < 7 and 0 <= b < 6 else None
                for a in range(2 * i - 1, 2 * i + 2) for b in range(2 * j - 1, 2 * j + 2)]
        inside = [v for v in seen if v is not None]
        assert np.isclose(y[channel, i, j], max(inside) if kind == "max" else sum(inside) / 9)


@pytest.mark.parametrize("kind", ["nearest", "bilinear"])
def test_upsampling_agrees_with_scipy(kind: str) -> None:
    x = normal(3, 4)
    wanted = ndimage.zoom(x, 3, order=int(kind == "bilinear"), mode="grid-constant"
                          if kind == "nearest" else "nearest", grid_mode=True)
    assert np.allclose(one("upsample", x, factor=3, kind=kind), wanted)


def cubic(t: float) -> float:
    """Keys, 1981, equation 4 with a = -0.75, as published."""
    t, a = abs(t), -0.75
    if t < 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0


def test_a_map_is_read_at_another_size() -> None:
    """Halved, each value is the mean of the four in the middle of its cell."""
    x = normal(2, 8, 8)
    wanted = (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2]) / 4
    assert np.allclose(one("resize", x, height=4, width=4), wanted)
    larger = one("upsample", x, factor=3, kind="bilinear")
    assert np.allclose(one("resize", x, height=24, width=24), larger)


def test_a_mask_leaves_what_is_at_least_the_threshold_and_never_nothing() -> None:
    y = one("threshold_mask", np.array([[-1.0, 0.0, 2.0], [-3.0, -2.0, -1.0]]))
    assert y.tolist() == [[-np.inf, 0, 0], [0, 0, 0]]


def test_positions_of_another_grid_are_read_bicubically() -> None:
    table = normal(1 + 3 * 4, 2)
    y = one("interpolate_position", table, height=3, width=4, to_height=5, to_width=2, prefix=1)
    assert np.array_equal(y[0], table[0])
    grid = table[1:].reshape(3, 4, 2)
    for i, j in np.ndindex(5, 2):
        a, b = (i + 0.5) * 3 / 5 - 0.5, (j + 0.5) * 4 / 2 - 0.5
        wanted = sum(
            cubic(a - p) * cubic(b - q) * grid[min(max(p, 0), 2), min(max(q, 0), 3)]
            for p in range(-3, 7) for q in range(-3, 8)
        )
        assert np.allclose(y[1 + 2 * i + j], wanted)
    same = one("interpolate_position", table, height=3, width=4, to_height=3, to_width=4, prefix=1)
    assert np.allclose(same, table)


@pytest.mark.parametrize("kind", ["bilinear", "bicubic"])
def test_resampling_keeps_what_is_constant(kind: str) -> None:
    for old, new in ((3, 7), (7, 3), (1, 4), (5, 5)):
        assert np.allclose(resampling(old, new, kind).sum(axis=1), 1)


# -- windows --------------------------------------------------------------------------------------


def test_windows_hold_neighbours_and_come_back_together() -> None:
    x = normal(4, 6, 3)
    cut = one("window_partition", x, window=2)
    for window, token in np.ndindex(6, 4):
        (i, j), (p, q) = divmod(window, 3), divmod(token, 2)
        assert np.array_equal(cut[window, token], x[2 * i + p, 2 * j + q])
    assert np.array_equal(one("window_merge", cut, window=2, height=4, width=6), x)
    assert "the windows must fill the map" in fault(
        "window_merge", [[5, 4, 3]], window=2, height=4, width=6
    )


def test_a_circle_of_shifts_comes_back() -> None:
    x = normal(4, 6, 3)
    y = one("roll", x, by=-1)
    for i, j in np.ndindex(4, 6):
        assert np.array_equal(y[i, j], x[(i + 1) % 4, (j + 1) % 6])
    assert np.array_equal(one("roll", y, by=1), x)


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_shifted_window_sees_only_former_neighbours(shift: int) -> None:
    """Two tokens of a window see each other if the shift has not carried one across an edge."""
    height, width, m = 8, 12, 4
    mask = one("shifted_window_mask", window=m, height=height, width=width, shift=shift)
    place = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), axis=-1)
    before = one("window_partition", one("roll", place, by=-shift), window=m)
    assert mask.shape == (6, 1, 16, 16)
    for window, a, b in np.ndindex(6, 16, 16):
        near = (np.abs(before[window, a] - before[window, b]) < m).all()
        assert (mask[window, 0, a, b] == 0) == near


# -- samples --------------------------------------------------------------------------------------


def test_deformable_sampling_agrees_with_scipy() -> None:
    sizes = [(3, 4), (2, 5)]
    value, places = normal(2, 22, 3), RNG.uniform(-0.3, 1.3, [5, 2, 2, 4, 2])
    shares = normal(5, 2, 2, 4)
    y = one("deform_sample", value, places, shares, heights=[3, 2], widths=[4, 5])
    wanted = np.zeros([5, 2, 3])
    for q, h, level, p, v in np.ndindex(5, 2, 2, 4, 3):
        (height, width), first = sizes[level], 12 * level
        flat = value[h, first : first + height * width, v].reshape(height, width)
        x, z = places[q, h, level, p]
        at = [[z * height - 0.5], [x * width - 0.5]]
        read = ndimage.map_coordinates(flat, at, order=1, mode="grid-constant")
        wanted[q, h, v] += shares[q, h, level, p] * read[0]
    assert np.allclose(y, wanted)
    batch = one("deform_sample", *(np.stack([x, x]) for x in (value, places, shares)),
                heights=[3, 2], widths=[4, 5])
    assert np.allclose(batch, [wanted, wanted])


def test_zero_offsets_at_a_centre_read_that_place_and_nothing_lies_outside() -> None:
    """Section 1 of Deformable DETR: invariants of its sampling."""
    value = normal(1, 12, 3)
    at = np.array([[(2 + 0.5) / 4, (1 + 0.5) / 3], [5.0, 5.0]]).reshape(2, 1, 1, 1, 2)
    y = one("deform_sample", value, at, np.ones([2, 1, 1, 1]), heights=[3], widths=[4])
    assert np.allclose(y[0, 0], value[0, 1 * 4 + 2])
    assert not y[1].any()


def test_levels_must_fill_the_sources() -> None:
    message = fault("deform_sample", [[2, 22, 3], [5, 2, 2, 4, 2], [5, 2, 2, 4]],
                    heights=[3, 2], widths=[4, 4])
    assert "axis 2 of value = 22" in message
    assert "20" in message
    assert "axis 3 of places = 3, the number of levels = 1" in fault(
        "deform_sample", [[2, 12, 3], [5, 2, 3, 4, 2], [5, 2, 3, 4]], heights=[3], widths=[4]
    )


def test_random_masking_is_undone_by_its_index() -> None:
    x, noise = normal(2, 7, 3), RNG.uniform(size=[2, 7])
    kept, restore, mask = run("random_mask", [x, noise], {"keep": 3}, {})
    for b in range(2):
        chosen = sorted(range(7), key=lambda n, b=b: noise[b, n])
        assert np.array_equal(kept[b], x[b, chosen[:3]])
        others = x[b, chosen[3:]]
        assert np.array_equal(np.concatenate([kept[b], others])[restore[b]], x[b])
        assert [n for n in range(7) if not mask[b, n]] == sorted(chosen[:3])
    assert "keep more than there are" in fault("random_mask", [[7, 3]], keep=8)


def test_a_mask_token_stands_where_the_mask_says() -> None:
    x, token = normal(4, 3), normal(3)
    y = one("mask_replace", x, np.array([0, 1, 1, 0]), weights={"token": token})
    assert np.array_equal(y, [x[0], token, token, x[3]])


def test_fourier_features_are_those_of_perceiver() -> None:
    y = one("fourier_features", size=[3, 5], bands=4)
    assert y.shape == (15, 2 * (2 * 4 + 1))
    for i, j in np.ndindex(3, 5):
        a, b = -1 + 2 * i / 2, -1 + 2 * j / 4
        angles = [np.pi * a * (1 + k * (1.5 - 1) / 3) for k in range(4)]
        angles += [np.pi * b * (1 + k * (2.5 - 1) / 3) for k in range(4)]
        assert np.allclose(y[5 * i + j], [a, b, *np.sin(angles), *np.cos(angles)])
    c = call("fourier_features", [], {"size": [224, 224], "bands": 64})
    assert [d.as_int() for d in c.op.shape(c)[0].dims] == [50176, 258]


# -- one of an axis, and the same again -----------------------------------------------------------


def test_select_drops_an_axis_by_one_index_or_by_one_for_each_row() -> None:
    x = normal(2, 5, 3)
    assert np.array_equal(one("select", x, index=-1), x[:, -1])
    rows = one("select", x, np.array([4, 1]))
    assert np.array_equal(rows, [x[0, 4], x[1, 1]])
    assert "index 5 lies outside of axis 2 of x" in fault("select", [[2, 5, 3]], index=5)
    assert "index -6 lies outside" in fault("select", [[2, 5, 3]], index=-6)
    assert "axis 1 of x = 2, axis 1 of index = 3" in fault("select", [[2, 5, 3], [3]])
    assert "one for each row" in fault("select", [[5, 3], [3]])


def test_expand_repeats_only_axes_of_one() -> None:
    x = normal(1, 3)
    assert np.array_equal(one("expand", x, to=[2, 4, 3]), np.tile(x, [2, 4, 1]))
    assert "only an axis of size 1 is repeated" in fault("expand", [[2, 3]], to=[4, 3])


# -- learned maps and factors ---------------------------------------------------------------------


def test_a_weight_normed_map_has_columns_of_the_learned_lengths() -> None:
    v, g = normal(4, 5), normal(5)
    y = one("weight_norm_linear", np.eye(4), weights={"V": v, "g": g}, out=5)
    assert np.allclose(np.linalg.norm(y, axis=0), np.abs(g))
    assert np.allclose(y, [[g[k] * v[i, k] / np.sqrt(sum(v[:, k] ** 2)) for k in range(5)]
                           for i in range(4)])


def test_factors_and_terms_of_features() -> None:
    x, gamma = normal(3, 4), normal(4)
    assert np.allclose(one("layer_scale", x, weights={"gamma": gamma}), x @ np.diag(gamma))
    scale, shift = normal(4), normal(4)
    wanted = x + x @ np.diag(scale) + np.outer(np.ones(3), shift)
    assert np.allclose(one("modulate", x, scale, shift), wanted)
    assert "must fit into x" in fault("modulate", [[4], [3, 4], [3, 4]])
    assert "axis 2 of x = 4, axis 1 of scale = 5" in fault("modulate", [[3, 4], [5], [5]])


def test_counts_of_published_parts() -> None:
    """ResNet-50's stem, ViT-B/16's patches, the DINO head's last map."""
    for name, inputs, attrs, params in (
        ("conv2d", [[3, 224, 224]], {"out": 64, "kernel": 7, "stride": 2, "pad": 3,
                                     "bias": False}, 9408),
        ("patch_embed", [[3, 224, 224]], {"patch": 16, "width": 768}, 590_592),
        ("weight_norm_linear", [[256]], {"out": 65_536}, 16_777_216 + 65_536),
    ):
        c = call(name, inputs, attrs)
        assert registry.get(name).params(c).as_int() == params


def test_an_axis_of_one_that_meets_none_is_not_stretched() -> None:
    """One window, as in the last stage of Swin: its bias for each head fits without a warning."""
    c = call("attention_core", [[1, 4, 9, 2]] * 3 + [[4, 9, 9]], {})
    assert [str(shape) for shape in c.op.shape(c)] == ["[1, 4, 9, 2]"]
    c = call("add", [[1, 4], [4]], {})
    c.op.shape(c)
    assert len(c.warnings) == 1
    assert c.warnings[0].startswith("b was stretched")
