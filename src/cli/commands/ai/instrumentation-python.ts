import type { PythonFramework } from "./instrumentation-frameworks.js";
import type { Setup } from "./instrumentation-node.js";
import { indented } from "./instrumentation-node.js";

const INSTALL =
  "The client is one file, `svc_client.py`, of the standard library of Python 3.8. `svc init --existing --slug <project> --stack python` in an empty directory writes it to `instrumentation/svc_client.py`: copy it beside your modules.";

/** Made at the first use, so in the process that uses it: the thread that sends does not survive a fork. */
function client(from: string): string {
  return `import atexit
import functools
import os

from ${from} import Client


@functools.lru_cache(maxsize=None)
def svc():
    """One client for the process, made at its first use: after a server has forked its workers, not before."""
    client = Client(os.environ["SVC_API_URL"], os.environ["SVC_API_KEY"])
    atexit.register(client.close)
    return client
`;
}

const SAVE = `def save():
    """Yours: stores what the request asks for, and returns what it stored."""
    return SimpleNamespace(id=1042, account_id="acme", created_at=datetime.now(timezone.utc))
`;

const IMPORTS = `from datetime import datetime, timezone
from types import SimpleNamespace
`;

const AT_EXIT = "`atexit` sends what waits when a process, or a worker of the server, ends in order.";

export const PYTHON_SETUPS: Readonly<Record<PythonFramework, Setup>> = {
  python: setup(
    "app.py",
    (call) => `${IMPORTS}
from svc_setup import svc


${SAVE}

def create():
    record = save()
${indented(call, "    ")}
    return record


if __name__ == "__main__":
    create()
`,
  ),
  django: {
    install: INSTALL,
    files: (call) => [
      { path: "records/svc_setup.py", text: client(".svc_client") },
      {
        path: "records/views.py",
        text: `${IMPORTS}
from django.db import transaction
from django.http import JsonResponse
from django.views.decorators.http import require_POST

from .svc_setup import svc


${SAVE}

def tell(record):
${indented(call, "    ")}


@require_POST
def create(request):
    with transaction.atomic():
        record = save()
        # What is rolled back did not happen, and is not told.
        transaction.on_commit(lambda: tell(record))
    return JsonResponse({"id": record.id}, status=201)
`,
      },
    ],
    ending: `${AT_EXIT} \`transaction.on_commit\` sees to it that only what was stored is told.`,
  },
  flask: setup(
    "app.py",
    (call) => `${IMPORTS}
from flask import Flask, jsonify

from svc_setup import svc

app = Flask(__name__)


${SAVE}

@app.post("/records")
def create():
    record = save()
${indented(call, "    ")}
    return jsonify(id=record.id), 201
`,
  ),
  fastapi: setup(
    "app.py",
    (call) => `from contextlib import asynccontextmanager
${IMPORTS}
from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from svc_setup import svc


@asynccontextmanager
async def lifespan(app):
    yield
    # Once no more requests are served, what waits is sent; closing waits, so it does so in a thread.
    await run_in_threadpool(svc().close)


app = FastAPI(lifespan=lifespan)


${SAVE}

@app.post("/records", status_code=201)
async def create():
    record = save()
${indented(call, "    ")}
    return {"id": record.id}
`,
    "The end of `lifespan` sends what waits once the server has stopped serving.",
  ),
};

function setup(path: string, handler: (call: readonly string[]) => string, ending = AT_EXIT): Setup {
  return {
    install: INSTALL,
    files: (call) => [
      { path: "svc_setup.py", text: client("svc_client") },
      { path, text: handler(call) },
    ],
    ending,
  };
}
