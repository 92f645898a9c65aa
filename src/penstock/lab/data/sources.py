"""MNIST, Fashion-MNIST and CIFAR-10: their files, checksums, places and mirrors.

The checksum of a part is that of its unpacked content; the checksum of a parcel is that of the file as its
authors publish it.
"""

from pathlib import Path

from penstock.lab.data.source import Parcel, Part, Source

__all__ = ["CIFAR_10", "FASHION_MNIST", "MNIST", "TEST", "TRAIN"]

#: In the IDX sets: the images and the labels to train on, and those to test on.
TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
SIZES: dict[str, int] = dict(zip(TRAIN + TEST, (47_040_016, 60_008, 7_840_016, 10_008), strict=True))


def _packed(name: str, content: str, packed: str) -> Parcel:
    return Parcel(f"{name}.gz", packed, (Part(name, SIZES[name], content),))


MNIST = Source(
    "mnist",
    (
        _packed(
            TRAIN[0],
            content="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            packed="440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        _packed(
            TRAIN[1],
            content="65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            packed="3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        _packed(
            TEST[0],
            content="0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            packed="8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        _packed(
            TEST[1],
            content="ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            packed="f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
    folders=("MNIST/raw", "MNIST"),
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
)

FASHION_MNIST = Source(
    "fashion-mnist",
    (
        _packed(
            TRAIN[0],
            content="c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            packed="3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        _packed(
            TRAIN[1],
            content="bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            packed="a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        _packed(
            TEST[0],
            content="5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            packed="346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        _packed(
            TEST[1],
            content="0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            packed="67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    folders=("FashionMNIST/raw", "FashionMNIST"),
    mirrors=(
        "https://fashion-mnist.s3.eu-central-1.amazonaws.com/",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    ),
    # Debian's package dataset-fashion-mnist
    elsewhere=(Path("/usr/share/datasets/fashion-mnist"),),
)


def _batch(name: str, content: str) -> Part:
    return Part(f"{name}.bin", 30_730_000, content)


CIFAR_10 = Source(
    "cifar-10",
    (
        Parcel(
            "cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            (
                _batch("data_batch_1", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
                _batch("data_batch_2", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
                _batch("data_batch_3", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
                _batch("data_batch_4", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
                _batch("data_batch_5", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
                _batch("test_batch", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
            ),
        ),
    ),
    folders=("cifar-10/cifar-10-batches-bin", "cifar-10-batches-bin"),
    mirrors=("https://www.cs.toronto.edu/~kriz/", "https://cave.cs.toronto.edu/kriz/"),
)
