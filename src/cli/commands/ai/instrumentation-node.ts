import type { NodeFramework } from "./instrumentation-frameworks.js";

/** A file of the plan: where it goes, and what it says. */
export interface PlanFile {
  path: string;
  text: string;
}

/** The client and a handler in a framework's own way. */
export interface Setup {
  install: string;
  files: (call: readonly string[]) => PlanFile[];
  /** How what waits is sent before the process ends. */
  ending: string;
}

const INSTALL =
  'The client is `svc/client`, a part of the package `svc`; it needs nothing but Node.js 20. `npm install --no-save "$(npm root --global)/svc"` makes the package known where the command `svc` is installed globally; elsewhere, install the package file that your deployment of svc is made of.';

const CLIENT = `import { createClient } from "svc/client";

/** One for the whole process. It queues, and sends in the background; a call waits for nothing. */
export const svc = createClient({
  url: process.env.SVC_API_URL ?? "",
  apiKey: process.env.SVC_API_KEY ?? "",
  onError: ({ code, message, operation }) =>
    console.error("svc:", code, message, operation ? operation.customerId : "(the client has stopped)"),
});
`;

const ENDING = `
// Once no more requests are served, what waits is sent.
process.once("SIGTERM", () => {
  server.close(async () => {
    const { left } = await svc.close({ timeoutMs: 8_000 });
    if (left.length > 0) console.error("svc: not sent:", JSON.stringify(left));
  });
});
`;

const SAVE = `/** Yours: stores what the request asks for, and answers what it stored. */
async function save() {
  return { id: "1042", accountId: "acme", createdAt: new Date() };
}
`;

const ON_SIGTERM = "On SIGTERM the server stops serving first, and then `svc.close` sends what waits.";
const LISTEN = "listen(Number(process.env.PORT ?? 3000))";

export const NODE_SETUPS: Readonly<Record<NodeFramework, Setup>> = {
  node: setup(
    (call) => `import { createServer } from "node:http";
import { svc } from "./svc.js";

${SAVE}
const server = createServer(async (request, response) => {
  const record = await save();
${call("  ")}
  response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(record));
});
server.${LISTEN};
${ENDING}`,
  ),
  express: setup(
    (call) => `import express from "express";
import { svc } from "./svc.js";

${SAVE}
const app = express();
app.use(express.json());

app.post("/records", async (request, response) => {
  const record = await save();
${call("  ")}
  response.status(201).json(record);
});

const server = app.${LISTEN};
${ENDING}`,
  ),
  fastify: setup(
    (call) => `import Fastify from "fastify";
import { svc } from "./svc.js";

${SAVE}
const app = Fastify({ logger: true });

app.post("/records", async (request, reply) => {
  const record = await save();
${call("  ")}
  return reply.code(201).send(record);
});

// Runs once no more requests are served: what waits is sent.
app.addHook("onClose", async () => {
  const { left } = await svc.close({ timeoutMs: 8_000 });
  if (left.length > 0) app.log.error({ left }, "svc: not sent");
});
process.once("SIGTERM", () => void app.close());

await app.listen({ port: Number(process.env.PORT ?? 3000) });
`,
    "On SIGTERM `app.close()` stops serving, and the hook `onClose` sends what waits.",
  ),
  koa: setup(
    (call) => `import Koa from "koa";
import { svc } from "./svc.js";

${SAVE}
const app = new Koa();

app.use(async (ctx) => {
  const record = await save();
${call("  ")}
  ctx.status = 201;
  ctx.body = record;
});

const server = app.${LISTEN};
${ENDING}`,
  ),
  nextjs: {
    install: INSTALL,
    files: (call) => [
      { path: "lib/svc.js", text: CLIENT },
      {
        path: "app/api/records/route.js",
        text: `import { after } from "next/server";
import { svc } from "../../../lib/svc.js";

export const runtime = "nodejs";

${SAVE}
export async function POST() {
  const record = await save();
${indented(call, "  ")}
  // Nothing is sent while the function is frozen between two calls: it is, before this one ends. What fails is told to onError.
  after(() => svc.flush({ timeoutMs: 5_000 }).catch(() => undefined));
  return Response.json(record, { status: 201 });
}
`,
      },
    ],
    ending:
      "`after` (Next.js 15.1) runs once the answer is sent, and sends what waits, so nothing is left when the function is frozen or ends. Call it in each handler that tracks.",
  },
};

function setup(handler: (call: (indentation: string) => string) => string, ending = ON_SIGTERM): Setup {
  return {
    install: INSTALL,
    files: (lines) => [
      { path: "svc.js", text: CLIENT },
      { path: "server.js", text: handler((indentation) => indented(lines, indentation)) },
    ],
    ending,
  };
}

export function indented(lines: readonly string[], indentation: string): string {
  return lines.map((line) => indentation + line).join("\n");
}
