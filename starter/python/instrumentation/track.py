"""Sends events and traits to svc: a customer's first day, as an example of what your backend calls.

    SVC_API_KEY=svc_test_... python3 instrumentation/track.py

The client is svc_client.py beside this file; it needs nothing but Python 3.8. The key may write events,
so keep it on servers.
"""

import os
import sys

from svc_client import Client, SvcError


def example(client):
    """May be sent again: the keys see to it that nothing is counted twice."""
    customer = "cus_example"
    client.identify(customer, {"companyName": "Example", "plan": "starter", "seats": 12, "renewsOn": "2030-01-31"})
    client.track(customer, "signed_up", {"source": "website"}, idempotency_key=f"signed_up/{customer}")
    client.track(customer, "logged_in", idempotency_key="session/1")
    client.track(customer, "project_created", {"template": "launch"}, idempotency_key="project/1")
    client.track(customer, "member_invited", {"role": "member"}, idempotency_key="invitation/1")
    client.track(customer, "feature_used", {"feature": "board"}, idempotency_key="use/1")
    client.track(customer, "invoice_paid", {"amount": 120, "currency": "EUR"}, idempotency_key="invoice/1")
    client.flush(timeout=60)
    print(f"Sent. See where it stands: svc customers inspect {customer}")


def main():
    if not os.environ.get("SVC_API_KEY"):
        sys.exit("set SVC_API_KEY to the key that was printed when the project was made")
    refused = []
    url = os.environ.get("SVC_API_URL") or "{{API_URL}}"
    # One for the whole process. In a backend, keep it, and close it when the process is asked to end.
    client = Client(url, os.environ["SVC_API_KEY"], on_error=refused.append)
    try:
        example(client)
    except SvcError as error:
        sys.exit(f"{url} took nothing: {error}")
    finally:
        client.close()
    if refused:
        sys.exit("\n".join(f"{error}: {error.operation}" for error in refused))


if __name__ == "__main__":
    main()
