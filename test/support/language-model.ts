import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { closeServer, listen } from "./listen.js";

/** A request as the provider received it. */
export interface AskedProvider {
  headers: IncomingMessage["headers"];
  body: {
    model: string;
    stream: boolean;
    messages: { role: string; content: string }[];
  };
  /** Settles once the connection is closed. */
  closed: Promise<void>;
}

/** How a provider handles a request; writes the answer itself. */
export type Behaviour = (request: AskedProvider, response: ServerResponse) => void | Promise<void>;

/** A real server on loopback with the protocol of OpenAI's chat completions. */
export interface Provider {
  /** The value for SVC_AI_BASE_URL. */
  baseUrl: string;
  asked: AskedProvider[];
  /** Sets its behaviour from now on. */
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export async function startProvider(behaviour: Behaviour = says("It stands well.")): Promise<Provider> {
  const asked: AskedProvider[] = [];
  let current = behaviour;
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of message.setEncoding("utf8")) text += chunk as string;
    if (message.method !== "POST" || message.url !== "/v1/chat/completions") {
      response.writeHead(404).end();
      return;
    }
    const closed = new Promise<void>((resolve) => response.once("close", resolve));
    const request = { headers: message.headers, body: JSON.parse(text) as AskedProvider["body"], closed };
    asked.push(request);
    await current(request, response);
  }
  return {
    baseUrl: `${await listen(server)}/v1`,
    asked,
    behave: (next) => (current = next),
    close: () => closeServer(server),
  };
}

/** A chunk of an answer, in the format of the protocol. */
export function chunk(content: string | null, finishReason: string | null = null, more: object = {}): string {
  const delta = content === null ? {} : { content };
  const document = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "small",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
  return `data: ${JSON.stringify(document)}\n\n`;
}

const DONE = "data: [DONE]\n\n";

/** Streams a text, some characters at a time, as providers do. */
export function says(text: string, finishReason = "stop"): Behaviour {
  return async (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const piece of text.match(/[^]{1,7}/g) ?? []) {
      response.write(chunk(piece));
      await delay(0);
    }
    response.write(chunk(null, finishReason));
    response.write(
      chunk(null, null, { choices: [], usage: { prompt_tokens: 120, completion_tokens: 7, total_tokens: 127 } }),
    );
    response.end(DONE);
  };
}

/** Answers with a status and an error document, as providers do. */
export function refuses(status: number, code: string, headers: Record<string, string> = {}): Behaviour {
  return (_, response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: "Incorrect API key provided: sk-secret", type: "error", code } }));
  };
}
