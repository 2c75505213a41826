#!/usr/bin/env python3
"""Exports narrow, shallow copies of the zoo's backbones with PyTorch 1.13 at opset 17.

    torch_export.py OUT_DIR NAME...

make.py runs this file with the interpreter that has torch 1.13 and torchvision 0.14, so that the
graphs carry the patterns of the exporter that wrote the full backbones: shape arithmetic on a
dynamic batch axis, window masks made with ScatterND, Identity nodes for shared initializers.
"""

import functools
import pathlib
import sys
import warnings
from unittest import mock

import torch
from torch import nn
from torchvision.models import convnext, efficientnet, mobilenetv3, resnet, swin_transformer, vision_transformer
from torchvision.ops.misc import Conv2dNormActivation

CLASSES = 10


def mobilenet_v3(blocks, last_channel):
    """blocks: (input, kernel, expanded, output, squeeze-excitation, activation, stride)."""
    config = [mobilenetv3.InvertedResidualConfig(*b, dilation=1, width_mult=1.0) for b in blocks]
    return mobilenetv3.MobileNetV3(config, last_channel, num_classes=CLASSES)


def mobilenet_v3_small():
    return mobilenet_v3(
        [
            (8, 3, 8, 8, True, "RE", 2),
            (8, 3, 16, 16, False, "RE", 2),
            (16, 3, 24, 16, False, "RE", 1),
            (16, 5, 24, 16, True, "HS", 2),
            (16, 5, 32, 16, True, "HS", 1),
        ],
        last_channel=32,
    )


def mobilenet_v3_large():
    return mobilenet_v3(
        [
            (8, 3, 8, 8, False, "RE", 1),
            (8, 3, 16, 8, False, "RE", 2),
            (8, 5, 16, 16, True, "RE", 2),
            (16, 5, 24, 16, True, "RE", 1),
            (16, 3, 32, 16, False, "HS", 2),
            (16, 3, 24, 16, False, "HS", 1),
            (16, 3, 32, 24, True, "HS", 1),
            (24, 5, 32, 24, True, "HS", 2),
        ],
        last_channel=32,
    )


def efficientnet_b0():
    block = functools.partial(efficientnet.MBConvConfig, width_mult=1.0, depth_mult=1.0)
    return efficientnet.EfficientNet(
        [
            block(1, 3, 1, 8, 8, 1),
            block(4, 3, 2, 8, 8, 2),
            block(4, 5, 2, 8, 16, 2),
            block(4, 3, 2, 16, 16, 1),
            block(4, 5, 1, 16, 24, 1),
        ],
        dropout=0.2,
        last_channel=48,
        num_classes=CLASSES,
    )


def efficientnet_v2_s():
    fused, block = efficientnet.FusedMBConvConfig, efficientnet.MBConvConfig
    return efficientnet.EfficientNet(
        [
            fused(1, 3, 1, 8, 8, 1),
            fused(4, 3, 2, 8, 8, 2),
            fused(4, 3, 2, 8, 16, 1),
            block(4, 3, 2, 16, 16, 2),
            block(6, 3, 1, 16, 24, 1),
        ],
        dropout=0.2,
        norm_layer=functools.partial(nn.BatchNorm2d, eps=1e-03),
        last_channel=48,
        num_classes=CLASSES,
    )


class LiteBlock(nn.Module):
    """EfficientNet-Lite's inverted residual: ReLU6, no squeeze and excitation."""

    def __init__(self, expand, kernel, stride, inputs, outputs):
        super().__init__()
        self.residual = stride == 1 and inputs == outputs
        hidden = inputs * expand
        layers = [] if expand == 1 else [lite_conv(inputs, hidden, 1)]
        layers += [
            lite_conv(hidden, hidden, kernel, stride=stride, groups=hidden),
            lite_conv(hidden, outputs, 1, activation=None),
        ]
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.block(x) if self.residual else self.block(x)


def lite_conv(inputs, outputs, kernel, activation=nn.ReLU6, **kwargs):
    return Conv2dNormActivation(inputs, outputs, kernel, activation_layer=activation, **kwargs)


def efficientnet_lite0():
    return nn.Sequential(
        lite_conv(3, 8, 3, stride=2),
        LiteBlock(1, 3, 1, 8, 8),
        LiteBlock(4, 3, 2, 8, 8),
        LiteBlock(4, 3, 1, 8, 8),
        LiteBlock(4, 5, 2, 8, 16),
        LiteBlock(4, 5, 1, 16, 16),
        LiteBlock(6, 3, 2, 16, 24),
        lite_conv(24, 48, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(48, CLASSES),
    )


class NarrowResNet(resnet.ResNet):
    """torchvision fixes the widths 64 to 512; every width here is divided by `shrink`."""

    shrink = 8

    def __init__(self, block, layers):
        super().__init__(block, layers, num_classes=CLASSES)
        width = 64 // self.shrink
        self.conv1 = nn.Conv2d(3, width, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.fc = nn.Linear(512 // self.shrink * block.expansion, CLASSES)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        if planes == 64:
            self.inplanes = 64 // self.shrink
        return super()._make_layer(block, planes // self.shrink, blocks, stride, dilate)


class NarrowerResNet(NarrowResNet):
    shrink = 16


def resnet18():
    return NarrowerResNet(resnet.BasicBlock, [2, 1, 1, 1])


def resnet50():
    return NarrowerResNet(resnet.Bottleneck, [2, 1, 1, 1])


def convnext_tiny():
    block = convnext.CNBlockConfig
    return convnext.ConvNeXt(
        [block(8, 16, 1), block(16, 16, 1), block(16, 24, 2), block(24, None, 1)],
        stochastic_depth_prob=0.1,
        num_classes=CLASSES,
    )


def swin(block=swin_transformer.SwinTransformerBlock, merging=swin_transformer.PatchMerging):
    return swin_transformer.SwinTransformer(
        patch_size=[4, 4],
        embed_dim=8,
        depths=[2, 1],
        num_heads=[2, 4],
        window_size=[4, 4],
        stochastic_depth_prob=0.2,
        num_classes=CLASSES,
        block=block,
        downsample_layer=merging,
    )


def swin_v2_t():
    model = swin(swin_transformer.SwinTransformerBlockV2, swin_transformer.PatchMergingV2)
    for m in model.modules():
        if isinstance(m, swin_transformer.ShiftedWindowAttentionV2):  # 512 hidden features otherwise
            m.cpb_mlp = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, m.num_heads, bias=False))
    return model


def vit_b_16():
    return vision_transformer.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=CLASSES
    )


def silu_conv(inputs, outputs, kernel=1, stride=1, groups=1):
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.SiLU(),
    ]


class MobileViTResidual(nn.Module):
    def __init__(self, inputs, outputs, stride=1, expand=4):
        super().__init__()
        hidden = inputs * expand
        self.residual = stride == 1 and inputs == outputs
        self.b = nn.Sequential(
            *silu_conv(inputs, hidden),
            *silu_conv(hidden, hidden, 3, stride, hidden),
            *silu_conv(hidden, outputs)[:2],
        )

    def forward(self, x):
        return x + self.b(x) if self.residual else self.b(x)


class Transformer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.n1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.p = nn.Linear(dim, dim)
        self.n2 = nn.LayerNorm(dim)
        self.f1 = nn.Linear(dim, hidden)
        self.f2 = nn.Linear(hidden, dim)

    def forward(self, x):
        batch, tokens, dim = x.shape
        size = dim // self.heads
        qkv = self.qkv(self.n1(x)).reshape(batch, tokens, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attention = ((q @ k.transpose(-2, -1)) * size**-0.5).softmax(-1)
        x = x + self.p((attention @ v).transpose(1, 2).reshape(batch, tokens, dim))
        return x + self.f2(nn.functional.silu(self.f1(self.n2(x))))


class MobileViTBlock(nn.Module):
    """Local convolutions, then attention among the pixels that share a place in their 2x2 patch."""

    def __init__(self, channels, dim, hidden, depth, heads=4):
        super().__init__()
        self.a = nn.Sequential(*silu_conv(channels, channels, 3))
        self.b = nn.Conv2d(channels, dim, 1, bias=False)
        self.t = nn.Sequential(*[Transformer(dim, heads, hidden) for _ in range(depth)])
        self.n = nn.LayerNorm(dim)
        self.c = nn.Sequential(*silu_conv(dim, channels))
        self.e = nn.Sequential(*silu_conv(2 * channels, channels, 3))

    def forward(self, x):
        y = self.b(self.a(x))
        batch, dim, height, width = y.shape
        rows, columns = height // 2, width // 2
        y = y.reshape(batch * dim * rows, 2, columns, 2).transpose(1, 2)
        y = y.reshape(batch, dim, rows * columns, 4).transpose(1, 3).reshape(batch * 2 * 2, -1, dim)
        y = self.n(self.t(y))
        y = y.reshape(batch, 4, rows * columns, -1).transpose(1, 3)
        y = y.reshape(batch * dim * rows, columns, 2, 2).transpose(1, 2)
        y = self.c(y.reshape(batch, dim, height, width))
        return self.e(torch.cat((x, y), 1))


def mobilevit_s():
    return nn.Sequential(
        nn.Sequential(*silu_conv(3, 8, 3, 2)),
        MobileViTResidual(8, 8),
        MobileViTResidual(8, 16, stride=2),
        MobileViTBlock(16, 16, 32, depth=2),
        MobileViTResidual(16, 16, stride=2),
        MobileViTBlock(16, 16, 32, depth=1),
        nn.Sequential(*silu_conv(16, 32)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(32, CLASSES),
    )


# Name: constructor and the side of the square picture it takes.
MODELS = {
    "mobilenet_v3_small": (mobilenet_v3_small, 32),
    "mobilenet_v3_large": (mobilenet_v3_large, 32),
    "efficientnet_lite0": (efficientnet_lite0, 32),
    "efficientnet_b0": (efficientnet_b0, 32),
    "efficientnet_v2_s": (efficientnet_v2_s, 32),
    "mobilevit_s": (mobilevit_s, 32),
    "resnet18": (resnet18, 40),
    "resnet50": (resnet50, 32),
    "convnext_tiny": (convnext_tiny, 32),
    "swin_t": (swin, 32),
    "swin_v2_t": (swin_v2_t, 32),
    "vit_b_16": (vit_b_16, 32),
}


def seed_weights(model):
    """Random weights that keep activations near unit scale and logits apart.

    A parameter that the constructor left constant (a bias of zeros, a scale of ones) draws its
    values from a generator seeded by what it was, so that equal ones stay equal: the exporter then
    shares one initializer among them through Identity nodes, as it does for the full backbones.
    """
    general = torch.Generator().manual_seed(20)
    for p in model.parameters():
        if torch.all(p == p.flatten()[0]):
            constant = float(p.flatten()[0])
            shared = torch.Generator().manual_seed(p.numel() + int(10 * constant))
            centre = 0.5 if abs(constant) < 1e-3 and p.ndim == 3 else constant  # ConvNeXt's layer scale
            p.data = centre + 0.2 * torch.randn(p.shape, generator=shared)
        elif p.ndim > 1:
            fan_in = p[0].numel()
            p.data = torch.randn(p.shape, generator=general) * (2.2 / fan_in) ** 0.5
        else:
            p.data = 0.2 * torch.randn(p.shape, generator=general)
    for name, b in model.named_buffers():
        if name.endswith("running_mean"):
            b.copy_(0.2 * torch.randn(b.shape, generator=general))
        elif name.endswith("running_var"):
            b.copy_(0.5 + torch.rand(b.shape, generator=general))
    for m in model.modules():
        if isinstance(m, swin_transformer.ShiftedWindowAttentionV2):
            m.qkv.bias.data[m.qkv.bias.numel() // 3 : -m.qkv.bias.numel() // 3] = 0


def export(name, path):
    constructor, side = MODELS[name]
    torch.manual_seed(1)
    model = constructor().eval()
    seed_weights(model)
    # Swin V2 zeroes the key part of its bias in forward(), which opset 17 cannot express: the weights
    # are zero there already, and zero_ does nothing while the graph is traced.
    keep = mock.patch.object(torch.Tensor, "zero_", lambda tensor: tensor)
    with warnings.catch_warnings(), keep:
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            torch.randn(2, 3, side, side),
            str(path),
            opset_version=17,
            input_names=["input"],
            output_names=["output"],
            dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}},
        )


def main():
    out = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:]:
        export(name, out / f"{name}.onnx")


if __name__ == "__main__":
    main()
