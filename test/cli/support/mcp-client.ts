import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

import { PROGRAM } from "./program.js";
import type { Shop } from "./shop.js";

/** A tool's answer: a document and its text; only the text on failure. */
export interface Answer {
  isError: boolean;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each tool has a shape of its own
  found: any;
}

export interface Assistant {
  client: Client;
  names: () => Promise<string[]>;
  call: (name: string, input?: Record<string, unknown>) => Promise<Answer>;
  /** Output that is no protocol message. */
  strays: Error[];
  log: () => string;
}

/** An assistant that runs `svc mcp` as the owner of a shop until the test ends, or the file with `afterAll`. */
export async function assistantOf(
  shop: Pick<Shop, "env" | "directory">,
  argv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Assistant> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, "mcp", ...argv],
    env: { PATH: process.env["PATH"] ?? "", ...shop.env, ...env },
    cwd: shop.directory,
    stderr: "pipe",
  });
  const client = new Client({ name: "assistant", version: "1.0.0" });
  const strays: Error[] = [];
  client.onerror = (error) => strays.push(error);
  let log = "";
  transport.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  await client.connect(transport);
  atEnd(() => client.close());
  return {
    client,
    strays,
    log: () => log,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input = {}) => {
      const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: input });
      const [first] = content as { text: string }[];
      return { isError, text: first!.text, found: structuredContent };
    },
  };
}
