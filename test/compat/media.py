"""Publishes images, audio and files with the published Weave SDK and prints what a second client reads back, as one JSON line."""
import hashlib
import json
import sys
import wave
from pathlib import Path

from PIL import Image

import weave

project, folder = sys.argv[1], Path(sys.argv[2])
client = weave.init(project)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def picture(size: int) -> Image.Image:
    image = Image.new("RGB", (size, size))
    image.putdata([((x * 7) % 256, (y * 5) % 256, (x * y) % 256) for y in range(size) for x in range(size)])
    return image


def sound() -> wave.Wave_read:
    path = folder / "sound.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(i * 31 % 256 for i in range(16_000)))
    return wave.open(str(path), "rb")


plain = folder / "notes with spaces.txt"
plain.write_text("notes é\n" * 1000)
large = folder / "large.bin"
large.write_bytes(bytes(i * i % 251 for i in range(3_000_000)))


def publish() -> dict:
    values = {
        "image": picture(64),
        "sound": sound(),
        "text": weave.Content.from_path(plain),
        "large": weave.Content.from_path(large),
    }
    refs = {name: weave.publish(value, name=name) for name, value in values.items()}
    refs["rows"] = weave.publish(weave.Dataset(name="pictures", rows=[{"i": i, "image": picture(8 + i)} for i in range(3)]))
    client.flush()
    return {name: ref.uri for name, ref in refs.items()}


@weave.op
def turn(image: Image.Image) -> Image.Image:
    return image.rotate(90)


first = publish()
again = publish()
turned = turn(picture(16))
client.flush()
client.finish()

reader = weave.init(project)
image = weave.ref(first["image"]).get()
audio = weave.ref(first["sound"]).get()
dataset = weave.ref(first["rows"]).get()
call = next(iter(reader.get_calls(limit=1)))
print(
    json.dumps(
        {
            "first": first,
            "again": again,
            "image": [image.size, digest(image.convert("RGB").tobytes()) == digest(picture(64).tobytes())],
            "sound": [audio.getframerate(), digest(audio.readframes(audio.getnframes())) == digest(bytes(i * 31 % 256 for i in range(16_000)))],
            "text": weave.ref(first["text"]).get().data.decode() == plain.read_text(),
            "large": digest(weave.ref(first["large"]).get().data) == digest(large.read_bytes()),
            "rows": [[row["i"], row["image"].size[0]] for row in dataset.rows],
            "call": [call.inputs["image"].size[0], digest(call.output.convert("RGB").tobytes()) == digest(turned.tobytes())],
        }
    )
)
