"""What a service counts, in the text that Prometheus reads."""

from typing import Any

from equicolor._tools.optional import require


class Metrics:
    """Requests, their time, batches, and what the process takes; of one service, not of the whole process."""

    def __init__(self) -> None:
        client = require("prometheus_client", "serving", install="equicolor[serve]")
        self._client = client
        self._registry = client.CollectorRegistry()
        new = {"registry": self._registry}
        self.requests: Any = client.Counter(
            "equicolor_requests", "Requests, by their answer", ["path", "status"], **new
        )
        self.seconds: Any = client.Histogram("equicolor_request_seconds", "From a request to its answer", **new)
        sizes = (1, 2, 4, 8, 16, 32, 64, 128, 256)
        self.batch: Any = client.Histogram("equicolor_batch_images", "Images shown at once", buckets=sizes, **new)
        self.waiting: Any = client.Gauge("equicolor_requests_in_progress", "Read, decoded or waiting", **new)
        client.ProcessCollector(registry=self._registry)

    @property
    def content_type(self) -> str:
        """Of :meth:`text`."""
        return str(self._client.CONTENT_TYPE_LATEST)

    def text(self) -> bytes:
        """Everything, as it is now."""
        written: bytes = self._client.generate_latest(self._registry)
        return written

    @property
    def answered(self) -> int:
        """Images that were predicted."""
        return int(
            self._registry.get_sample_value("equicolor_requests_total", {"path": "/predict", "status": "200"}) or 0
        )
