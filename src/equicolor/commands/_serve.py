"""``equicolor serve``."""

from typing import Literal

from equicolor.commands import _console as console
from equicolor.commands._registry import register_command
from equicolor.commands._shared import say_what_is_unknown


@register_command(place=57)
def serve(
    model: str,
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    backend: Literal["torch", "onnx"] = "torch",
    device: str = "auto",
    image_size: int | None = None,
    batch_size: int = 32,
    wait: float = 0.002,
    workers: int | None = None,
    max_body: int = 16 << 20,
    max_pixels: int = 50_000_000,
    max_queue: int = 256,
    timeout: float = 30.0,
) -> None:
    """Answers over HTTP which class an image shows, as 'equicolor predict' does, until Ctrl-C or SIGTERM.

    POST /predict takes an image, as the file 'image' of a form or as JSON with base64 under 'image'; GET /health says
    whether images are taken, /metrics counts for Prometheus, /card tells about the network. What cannot be answered is
    answered with a reason. Asked to stop, it takes no more requests, and ends when those that it has are answered.

    To ask: curl -F image=@digit.png http://127.0.0.1:8000/predict

    It listens to this machine alone, unless --host says otherwise, and asks nobody who they are: put a proxy in front.

    Args:
        model: the folder of a run or of a saved model, a name on the Hugging Face hub, or an ONNX file.
        port: where to listen; 0 takes one that is free.
        host: 127.0.0.1 for this machine alone, 0.0.0.0 for everybody who can reach it.
        backend: what computes the network, torch or onnx (onnxruntime).
        device: cpu, cuda, …; auto takes a GPU where there is one.
        image_size: show the network images of another size than that of its training.
        batch_size: the most images that the network is shown at once.
        wait: seconds that the first image of a batch waits for others.
        workers: threads that decode images; by default as many as there are cores, and at most 8.
        max_body: bytes of a request; a larger one is answered with 413.
        max_pixels: of an image; a larger one is answered with 413, and not decoded.
        max_queue: requests at a time; one more is answered with 503.
        timeout: seconds from a request to its answer; later it is 408 or 504.

    Example:
        equicolor serve runs/digits --port 8000
    """
    from equicolor.serve import Limits, Service, serve_forever
    from equicolor.trained import default_workers, open_network

    opened = open_network(model, device, image_size, backend)
    say_what_is_unknown(opened)
    workers = default_workers() if workers is None else workers
    service = Service(opened, Limits(max_body, max_pixels, timeout, max_queue, batch_size, wait, workers))

    def ready(address: str) -> None:
        console.note(f"Serving {opened.card.name} at {address}: POST /predict, GET /health, /metrics, /card")

    serve_forever(service, host, port, ready)
    console.note(f"Stopped; {service.metrics.answered:,} images were answered.")
