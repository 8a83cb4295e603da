"""Sends events and traits to svc.

It needs nothing but Python 3.8: copy it into your backend, and call track() and
identify() where things happen, and flush() at the end of a request or a job.
The key may write events, so keep it on servers.

    SVC_API_KEY=svc_test_... python3 instrumentation/track.py

sends the example at the end of this file.
"""

import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.request

API_URL = os.environ.get("SVC_API_URL") or "{{API_URL}}"
OPERATIONS_PER_BATCH = 500
ANSWER_SECONDS_MAX = 60
TRIES_MAX = 8
# The most that a try waits for the next one. A monthly quota that is used up
# says to come back next month.
WAIT_SECONDS_MAX = 600

_waiting = []
# One flush after the other: the order of a customer's operations matters.
_sending = threading.Lock()


class Refused(Exception):
    """Operations were not taken; the message says why."""


def track(customer_id, event, properties=None, idempotency_key=None):
    """Something happened.

    The key identifies the event in your system, such as the id of the invoice,
    and is the same whenever it is sent: then sending it again is harmless.
    """
    operation = {"type": "track", "customerId": customer_id, "event": event}
    if properties is not None:
        operation["properties"] = properties
    if idempotency_key is not None:
        operation["idempotencyKey"] = idempotency_key
    _waiting.append(operation)


def identify(customer_id, traits):
    """Something is known. Traits are merged into those that are there; None removes one."""
    _waiting.append({"type": "identify", "customerId": customer_id, "traits": traits})


def flush():
    """Sends what waits, in its order.

    A batch is taken whole or not at all; one that is refused is dropped, and the
    error says what is wrong with it. What must not be lost in a crash belongs in a
    table or a queue of yours until this has succeeded.
    """
    with _sending:
        while _waiting:
            batch = _waiting[:OPERATIONS_PER_BATCH]
            del _waiting[: len(batch)]
            _send(batch)


def _send(events):
    body = json.dumps({"events": events}).encode()
    tries = 0
    while True:
        tries += 1
        status, text, retry_after = _post(body)
        if status == 202:
            return
        may_pass = status in (0, 408, 429) or status >= 500
        # Random, so that senders that were refused together do not come back together.
        backoff = min(60, 2 ** (tries - 1)) * (0.5 + random.random())
        seconds = retry_after + random.random() if retry_after > 0 else backoff
        if not may_pass or tries == TRIES_MAX or seconds > WAIT_SECONDS_MAX:
            raise Refused(f"{API_URL} did not take {len(events)} operations ({status or 'no answer'}): {text}")
        time.sleep(seconds)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key to an address that nobody set."""

    def redirect_request(self, *_arguments):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _post(body):
    """The answer's status (0 where none came), its text, and how long it asks to wait."""
    request = urllib.request.Request(
        f"{API_URL}/v1/events/batch",
        data=body,
        method="POST",
        headers={
            "Authorization": f"Bearer {os.environ.get('SVC_API_KEY')}",
            "Content-Type": "application/json",
        },
    )
    try:
        with _opener.open(request, timeout=ANSWER_SECONDS_MAX) as answer:
            return answer.status, answer.read().decode(), 0
    except urllib.error.HTTPError as error:
        asked = error.headers.get("Retry-After") or ""
        return error.code, error.read().decode(errors="replace"), int(asked) if asked.isdigit() else 0
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error), 0


def _example():
    """A customer's first day. It may be sent again: the keys see to it that nothing is counted twice."""
    if not os.environ.get("SVC_API_KEY"):
        raise Refused("set SVC_API_KEY to the key that was printed when the project was made")
    customer = "cus_example"
    identify(customer, {"companyName": "Example", "plan": "starter", "seats": 12, "renewsOn": "2030-01-31"})
    track(customer, "signed_up", {"source": "website"}, f"signed_up/{customer}")
    track(customer, "logged_in", {}, "session/1")
    track(customer, "project_created", {"template": "launch"}, "project/1")
    track(customer, "member_invited", {"role": "member"}, "invitation/1")
    track(customer, "feature_used", {"feature": "board"}, "use/1")
    track(customer, "invoice_paid", {"amount": 120, "currency": "EUR"}, "invoice/1")
    flush()
    print(f"Sent. See where it stands: svc customers inspect {customer}")


if __name__ == "__main__":
    try:
        _example()
    except Refused as error:
        sys.exit(str(error))
