"""The client of svc's ingestion API: one file that needs only Python 3.8.

A thread sends the queued operations in batches, one after the other, and each batch again until it is answered:
the order is kept, nothing is counted twice, and only what was not sent when the process ended is lost.
The guide is docs/client.md of svc. Create one client for each process, and close() it at the end, or use `with`.
"""

from __future__ import annotations

import contextlib, dataclasses, datetime, http.client, json, logging, math, os, random, re  # noqa: E401
import socket, threading, time, urllib.parse, uuid, weakref  # noqa: E401
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence

_log = logging.getLogger("svc")
# A text with a date, a time and a zone. Whether such an instant exists is checked by the service.
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)", re.A | re.I)
_WAIT_MAX = 600  # Seconds: the longest pause before a retry, whatever Retry-After says, and the pause after a stop.
_NUL = re.compile(r"(?<!\\)(\\\\)*\\u0000")  # As JSON escapes it.


class SvcError(Exception):
    """Why operations were not accepted. `code` is one of the service, or QUEUE_FULL, CLOSED, TIMEOUT,
    NO_THREAD, UNEXPECTED_ANSWER or BATCH_REFUSED; with this last one, `refused` has (index, error) for each refused operation."""

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 0,
        field: str | None = None,
        operation: dict[str, Any] | None = None,
        refused: Sequence[tuple[int, SvcError]] = (),
    ) -> None:
        super().__init__(f"{code}: {field + ': ' if field else ''}{message}")
        self.code, self.status, self.field, self.operation, self.refused = code, status, field, operation, refused
        self._message = message

    def __reduce__(self) -> tuple[type[SvcError], tuple[Any, ...]]:
        """For pickle, which would call the class with the text alone. A process pool passes errors on by pickle, and one
        that gets an error which cannot be read waits for ever."""
        return SvcError, (self.code, self._message, self.status, self.field, self.operation, self.refused)


class Client:
    # Options, with limits of the queue and of one request, and times in seconds: Client(url, api_key, flush_interval=5).
    queue_operations, queue_bytes, batch_operations, batch_bytes = 50_000, 64 * 1024 * 1024, 1_000, 900_000
    flush_interval, timeout, retry_first, retry_longest = 1.0, 60.0, 1.0, 60.0

    def __init__(
        self, url: str, api_key: str, on_error: Callable[[SvcError], object] | None = None, **options: float
    ) -> None:
        """`on_error` is called for each operation that was refused or not queued (error.operation), and once when the
        service accepts nothing of this client; by default, the errors are logged. It runs in the client's thread, so
        it must not call batch() or flush(), which wait for that thread."""
        is_address = re.fullmatch(r"https?://([\w.-]+|\[[\w:]+\])(:\d{1,5})?(/[!$->A-~]*)?", url or "", re.A)
        if not is_address or re.fullmatch(r"/v1/*", urllib.parse.urlsplit(url).path) or not re.fullmatch(r"[!-~]+", api_key or ""):
            raise ValueError("url must be the service's address without /v1, and api_key one of its API keys")
        for name, value in options.items():
            known = getattr(Client, name, None)
            # As for Node.js: a lock or a socket whose time is too long raises an error, and the thread that sends would end.
            most = 3_600 if isinstance(known, float) else 2**53
            is_long = isinstance(value, int) and not -most <= value <= most  # No float may hold it.
            if not isinstance(known, (int, float)) or is_long or not float(value) <= most or not type(known)(value) > 0:
                raise ValueError(f"{name}={value!r}: there is no such option, or it must be more than 0 and at most {most}")
            setattr(self, name, type(known)(value))
        self._address, self._api_key = urllib.parse.urlsplit(url), api_key
        secure = self._address.scheme == "https"
        self._connection = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._on_error = on_error or (lambda error: _log.error("%s", error))
        self._closing = False
        self._begin()
        _clients.add(self)

    def _begin(self) -> None:
        """Begins with an empty queue: also in a forked child, where no thread runs and a lock may be held for ever. What
        was queued before, the parent sends."""
        self._changed, self._end = threading.Condition(), threading.Event()
        if self._closing:
            self._end.set()
        self._thread: threading.Thread | None = None
        self._line: list[_Entry] = []  # The operations that are not answered yet, the oldest first.
        self._groups: list[_Group] = []
        self._last = self._due = self._held = self._held_bytes = 0
        self._at_most, self._resumes_at = self.batch_operations, 0.0
        self._stopped: SvcError | None = None
        self._reported: str | None = None  # The code of the error that stopped the client, once reported.

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def track(
        self,
        customer_id: str,
        event: str,
        properties: dict[str, Any] | None = None,
        timestamp: str | datetime.datetime | None = None,
        idempotency_key: str | None = None,
    ) -> bool:
        """Queues an event and returns at once; False if the queue is full or the client closed. Raises TypeError for an
        operation that cannot be sent. The key identifies the event in your system; pass its timestamp, too."""
        named = {"properties": properties, "timestamp": timestamp, "idempotencyKey": idempotency_key}
        named = {name: value for name, value in named.items() if value is not None}
        return self._enqueue({"type": "track", "customerId": customer_id, "event": event, **named})

    def identify(self, customer_id: str, traits: dict[str, Any]) -> bool:
        """Queues traits of a customer, like track(). They are merged into the existing ones; None removes one."""
        return self._enqueue({"type": "identify", "customerId": customer_id, "traits": traits})

    def batch(self, operations: Iterable[Mapping[str, Any]]) -> list[str]:
        """Sends dicts with the API's names, after the queue. Returns the events' ids once all are accepted. Raises
        SvcError if some were refused (the others were accepted), or if the service accepts nothing of this client."""
        entries = [_entry({"type": "track", **operation}) for operation in operations]
        group = _Group(missing=len(entries))
        with self._changed:
            self._groups.append(group)
            for index, entry in enumerate(entries):
                entry.group, entry.index = group, index
                self._add(entry)
            self._send()
            self._changed.wait_for(lambda: group.error or not group.missing)
            self._groups.remove(group)
        if group.error:
            raise group.error
        if group.refused:
            message = f"{len(group.refused)} of {len(entries)} operations were refused: {group.refused[0][1]}"
            raise SvcError("BATCH_REFUSED", message, refused=group.refused)
        return group.ids

    def flush(self, timeout: float | None = None) -> None:
        """Sends the queue and returns once it is answered. Raises SvcError if nothing is accepted, or on timeout."""
        timeout = _bound(timeout)
        with self._changed:
            last = self._last
            self._send()
            waits: Callable[[], bool] = lambda: bool(self._line) and self._line[0].number <= last
            self._changed.wait_for(lambda: self._stopped or self._end.is_set() or not waits(), timeout)
            if waits():
                raise self._stopped or SvcError("TIMEOUT", "not everything was answered in time")

    def close(self, timeout: float | None = 10.0) -> list[dict[str, Any]]:
        """Takes no more operations and sends the queue. Returns the operations that are left, as dicts for batch()."""
        timeout = _bound(timeout)
        self._closing = True
        try:
            self.flush(timeout)
        except SvcError:
            pass
        with self._changed:
            self._end.set()
            self._abandon(SvcError("CLOSED", "the client was closed"))
            return [json.loads(entry.text) for entry in self._line]

    def _enqueue(self, operation: dict[str, Any]) -> bool:
        entry = _entry(operation)
        with self._changed:
            is_full = self._held >= self.queue_operations or self._held_bytes + entry.size > self.queue_bytes
            if not is_full and not self._closing:
                self._held, self._held_bytes = self._held + 1, self._held_bytes + entry.size
                self._add(entry)
                return True
        why = ("CLOSED", "the client was closed") if self._closing else ("QUEUE_FULL", "the queue is full")
        self._tell(SvcError(*why, operation=json.loads(entry.text)))
        return False

    def _add(self, entry: _Entry) -> None:
        if self._end.is_set():
            raise SvcError("CLOSED", "the client was closed")
        self._last += 1
        entry.number, entry.at = self._last, time.monotonic()
        self._line.append(entry)
        self._start()
        if len(self._line) in (1, self._at_most) or self._is_full():
            self._changed.notify_all()

    def _start(self) -> bool:
        """Starts the thread that sends, unless it runs; False if none can be started now. The next operation or flush()
        tries again."""
        if self._end.is_set() or (self._thread is not None and self._thread.is_alive()):
            return True
        thread = threading.Thread(target=self._run, name="svc-client", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            _log.warning("operations wait: %s", error)
            return False
        self._thread = thread
        return True

    def _send(self) -> None:
        self._stopped, self._due = None, self._last
        if self._line and not self._start():
            # Nothing else would end the caller's wait.
            self._stopped = SvcError("NO_THREAD", "no thread can be started now to send the operations")
            self._resumes_at = time.monotonic()
            self._abandon(self._stopped)
        self._changed.notify_all()

    def _abandon(self, error: SvcError) -> None:
        """Ends all calls of batch() with the error, and removes their operations from the queue."""
        self._line = [entry for entry in self._line if entry.group is None]
        for group in self._groups:
            group.error = error
        self._changed.notify_all()

    def _is_full(self) -> bool:
        """The queue is then sent at once, since no more can be gathered."""
        return self._held >= self.queue_operations

    def _due_in(self) -> float | None:
        """Seconds until the next batch is due; None if there is nothing to send."""
        if not self._line:
            return None
        if self._stopped:
            return max(0, self._resumes_at - time.monotonic())
        is_due = self._line[0].number <= self._due or len(self._line) >= self._at_most or self._is_full()
        return 0 if is_due else max(0, self._line[0].at + self.flush_interval - time.monotonic())

    def _run(self) -> None:
        while not self._end.is_set():
            with self._changed:
                if self._due_in() != 0:
                    self._changed.wait(self._due_in())
                    continue
                self._stopped = None
                batch = self._line[: self._at_most]
                while len(batch) > 1 and sum(entry.size + 1 for entry in batch) > self.batch_bytes:
                    batch = batch[: len(batch) // 2]
            self._settle(batch, self._exchange(batch))

    def _exchange(self, batch: list[_Entry]) -> _Answer:
        """Sends a batch, each time byte for byte the same, until the answer is not a temporary failure."""
        body = f'{{"events":[{",".join(entry.text for entry in batch)}]}}'.encode()
        for tries in range(1_000_000):
            answer = _read(*self._post(body), batch)
            if answer.kind != "again" or self._end.is_set():
                break
            level = logging.WARNING if tries == 4 else logging.DEBUG
            _log.log(level, "sent again after try %d: %s", tries + 1, answer.error)
            # Random, so that senders that failed together do not retry together.
            doubled = min(self.retry_longest, self.retry_first * 2 ** min(tries, 30))
            if self._end.wait(answer.asked + random.random() * (self.retry_first if answer.asked else doubled)):
                break
        return answer

    def _post(self, body: bytes) -> tuple[int, str, int]:
        """The answer's status (0 if there was none), its text, and the seconds of its Retry-After."""
        headers = {"Authorization": f"Bearer {self._api_key}", "Content-Type": "application/json", "User-Agent": "svc-client-python"}
        connection = self._connection(self._address.netloc, timeout=self.timeout)
        # The socket's timeout starts anew with each byte, so it does not limit an answer that arrives slowly.
        end = threading.Timer(self.timeout, lambda: _cut(sock))
        end.daemon = True
        try:
            connection.connect()
            sock = connection.sock
            with contextlib.suppress(RuntimeError):  # no thread can be started now; the socket has its timeout
                end.start()
            connection.request("POST", self._address.path.rstrip("/") + "/v1/events/batch", body, headers)
            with connection.getresponse() as answer:
                text = answer.read(16 * 1024 * 1024).decode(errors="replace")
                asked, location = answer.getheader("Retry-After") or "", answer.getheader("Location")
                if location and 300 <= answer.status < 400:
                    text = f"it redirects to {location}; if that is the service, correct url"
                return answer.status, text, int(asked) if re.fullmatch("[0-9]{1,9}", asked) else 0
        except (OSError, ValueError, http.client.HTTPException) as error:
            return 0, f"no answer: {error}", 0
        finally:
            end.cancel()
            connection.close()

    def _settle(self, batch: list[_Entry], answer: _Answer) -> None:
        kind, refused, errors = answer.kind, answer.refused, []
        with self._changed:
            if kind == "divide" and len(batch) == 1:
                refused = {0: answer.error}
            elif kind == "divide":
                self._at_most = len(batch) // 2
            elif kind == "accepted":
                self._at_most = min(self.batch_operations, self._at_most * 2)
            ids, answered = iter(answer.ids), set()
            for index, entry in enumerate(batch):
                group, error = entry.group, refused.get(index)
                if kind != "accepted" and not error:
                    continue
                answered.add(entry.number)
                event_id = [next(ids)] if entry.is_track and not error else []
                if error:
                    error.operation = json.loads(entry.text)
                if group:
                    group.missing -= 1
                    group.ids += event_id
                    group.refused += [(entry.index, error)] if error else []
                else:
                    self._held, self._held_bytes = self._held - 1, self._held_bytes - entry.size
                    errors += [error] if error else []
            self._line = [entry for entry in self._line if entry.number not in answered]
            self._due = max(self._due, batch[-1].number)
            if kind == "stop":
                errors += [answer.error] if answer.error.code != self._reported else []
                self._stopped, self._resumes_at = answer.error, time.monotonic() + answer.asked
                self._abandon(answer.error)
            self._reported = answer.error.code if kind == "stop" else None
            self._changed.notify_all()
        for error in errors:
            self._tell(error)

    def _tell(self, error: SvcError) -> None:
        try:
            self._on_error(error)
        except Exception:
            _log.exception("on_error failed")


@dataclasses.dataclass
class _Group:
    """The operations of one batch()."""

    missing: int
    ids: list[str] = dataclasses.field(default_factory=list)
    refused: list[tuple[int, SvcError]] = dataclasses.field(default_factory=list)
    error: SvcError | None = None


@dataclasses.dataclass
class _Entry:
    """An unanswered operation: its JSON, its index in a batch(), and its number among all operations."""

    text: str
    size: int
    is_track: bool
    group: _Group | None = None
    index: int = 0
    number: int = 0
    at: float = 0


class _Answer(NamedTuple):
    """What an answer means: accepted, with the events' ids; refused, with errors by index in the batch; divide: send
    smaller batches; again, after `asked` seconds, 0 for the client's own pause; or stop for `asked` seconds."""

    kind: str
    error: SvcError
    ids: Sequence[str] = ()
    refused: Mapping[int, SvcError] = {}
    asked: int = 0


def _cut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # The connection has ended by itself.


def _entry(operation: dict[str, Any]) -> _Entry:
    """Checks an operation and makes its JSON. An event without a key gets one, and the present instant unless it has a
    timestamp. One with a key gets no timestamp: another run may send it again, at another instant, which would conflict."""
    kind, made = operation["type"], dict(operation)
    if kind == "track" and "idempotencyKey" not in made:
        made.setdefault("timestamp", datetime.datetime.now(datetime.timezone.utc))
        made["idempotencyKey"] = str(uuid.uuid4())
    at = made.get("timestamp", "")
    if isinstance(at, datetime.datetime) and at.utcoffset() is not None:
        made["timestamp"] = _iso(at)
    elif "timestamp" in made and not (isinstance(at, str) and _TIMESTAMP.fullmatch(at)):
        raise TypeError(f"timestamp must be a text in ISO 8601 or a datetime, with a timezone, not {at!r}")
    names, content = (["event", "idempotencyKey"], "properties") if kind == "track" else ([], "traits")
    for name in ["customerId", *names]:
        if not isinstance(made.get(name), str) or not 0 < len(made[name]) <= 256:
            raise TypeError(f"{name} must be a text of 1 to 256 characters, not {made.get(name)!r}")
    if not isinstance(made.get(content, {} if kind == "track" else None), dict):
        raise TypeError(f"{content} must be a dict, not {made.get(content)!r}")
    try:
        inner, text = (_json(value) for value in (made.get(content, {}), made))
        inner_size, size = len(inner.encode()), len(text.encode())
        _check_storable(made.get(content, {}))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TypeError(f"{content} cannot be sent: {error}") from error
    if inner_size > 65_536:
        raise TypeError(f"{content} is larger than 64 KiB as JSON")
    if _NUL.search(text):
        raise TypeError("the operation has the character U+0000, which cannot be stored")
    return _Entry(text, size, kind == "track")


def _check_storable(value: object, level: int = 1) -> None:
    """Refuses what JSON has and the service does not: deep nesting, and integers beyond the range of a double."""
    if isinstance(value, int):
        float(value)  # an OverflowError
    elif isinstance(value, (dict, list, tuple)):
        if level > 100:
            raise ValueError("it is nested more than 100 levels deep")
        for member in value.values() if isinstance(value, dict) else value:
            _check_storable(member, level + 1)


def _bound(timeout: float | None) -> float | None:
    """The timeout of a lock: None (no timeout) for infinity and whatever else exceeds a lock's maximum."""
    if timeout is None or not math.isnan(timeout):
        return None if timeout is None or timeout > threading.TIMEOUT_MAX else timeout
    raise ValueError(f"timeout must be a number of seconds, or None, not {timeout!r}")


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_text)


def _text(value: object) -> str:
    """The text for a value that JSON does not have: a day, or an instant."""
    if isinstance(value, datetime.datetime):
        if value.utcoffset() is None:
            raise TypeError(f"{value!r} has no timezone")
        return _iso(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"{value!r} is a {type(value).__name__}; convert it to text, numbers, lists and dicts")


def _iso(at: datetime.datetime) -> str:
    # Before 1900, the offset of a zone may include seconds, which ISO 8601 cannot express.
    offset = at.utcoffset() or datetime.timedelta(0)
    has_minutes_only = offset % datetime.timedelta(minutes=1) == datetime.timedelta(0)
    return (at if has_minutes_only else at.astimezone(datetime.timezone.utc)).isoformat()


def _read(status: int, text: str, asked: int, batch: list[_Entry]) -> _Answer:
    """Interprets the answer to a batch. Only an answer of the service itself stops the client or drops an operation; any
    other is treated as an outage, except 413, which proxies send, too."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = {}
    answer = answer if isinstance(answer, dict) else {}
    ids, envelope = answer.get("eventIds"), answer.get("error")
    envelope = envelope if isinstance(envelope, dict) else {}
    named = (envelope.get(name) for name in ("code", "message", "field", "requestId"))
    code, message, field, request_id = (value if isinstance(value, str) else None for value in named)
    if not request_id:  # Gateways send a code, too.
        code = message = field = None
    error = SvcError(code or "UNEXPECTED_ANSWER", message or f"{status}: {text[:200]}", status, field)
    if status == 202 and answer.get("accepted") == len(batch) and isinstance(ids, list):
        if len(ids) == sum(entry.is_track for entry in batch):
            return _Answer("accepted", error, ids=ids)
    listed = envelope.get("diagnostics")
    if status == 413:
        return _Answer("divide", error)
    if status in (408, 429) or status >= 500 or not code:
        # The Retry-After of a used-up monthly quota is the beginning of next month: stop instead of waiting that long.
        is_quota = status == 429 and code and asked > _WAIT_MAX
        return _Answer("stop", error, asked=asked) if is_quota else _Answer("again", error, asked=min(asked, _WAIT_MAX))
    if status not in (400, 409, 422):
        return _Answer("stop", error, asked=_WAIT_MAX)
    refused: dict[int, SvcError] = {}
    for problem in [{"path": field, "code": code, "message": message}, *(listed if isinstance(listed, list) else [])]:
        path = problem.get("path") if isinstance(problem, dict) else None
        place = re.match(r"events\[(\d{1,4})\]\.?(.*)", path, re.S) if isinstance(path, str) else None
        if place and int(place[1]) < len(batch):
            detail = str(problem.get("message")).replace(f"events[{place[1]}].", "")
            refused.setdefault(int(place[1]), SvcError(problem.get("code"), detail, status, place[2]))
    return _Answer("refused" if refused else "divide", error, refused=refused)


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _begin_anew() -> None:
    for client in _clients:
        client._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
