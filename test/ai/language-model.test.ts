import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  LanguageModel,
  LanguageModelError,
  type LanguageModelSettings,
  type AnswerPart,
} from "../../src/ai/language-model.js";
import { chunk, refuses, says, startProvider, type Behaviour, type Provider } from "../support/language-model.js";

const QUESTION = { instructions: "Explain.", facts: '{"lifecycle":"trial"}' };

let provider: Provider;
afterEach(() => provider.close());

async function modelThat(behaviour: Behaviour, more: Partial<LanguageModelSettings> = {}): Promise<LanguageModel> {
  provider = await startProvider(behaviour);
  return new LanguageModel({ baseUrl: provider.baseUrl, apiKey: "sk-secret", model: "small", ...more });
}

async function ask(model: LanguageModel, signal = new AbortController().signal): Promise<AnswerPart[]> {
  const parts: AnswerPart[] = [];
  for await (const part of model.ask(QUESTION, signal)) parts.push(part);
  return parts;
}

const textOf = (parts: readonly AnswerPart[]) => parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

/** The failure of a question, which must not show anything that the provider wrote. */
async function failureOf(answer: Promise<unknown>) {
  const error = await answer.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LanguageModelError);
  const { kind, message, retryAfter } = error as LanguageModelError;
  expect(message).not.toContain("sk-");
  return { kind, message, retryAfter };
}

/** A response with these lines, which need not follow the protocol. */
const streams =
  (...lines: string[]): Behaviour =>
  (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(lines.join(""));
  };

it("yields the text part by part, then how it ended, and keeps instructions and facts apart", async () => {
  const model = await modelThat(says("The customer is in trial."));
  const parts = await ask(model);
  expect(textOf(parts)).toBe("The customer is in trial.");
  expect(parts.filter(({ kind }) => kind === "text").length).toBeGreaterThan(1);
  const usage = { promptTokens: 120, completionTokens: 7 };
  expect(parts.at(-1)).toEqual({ kind: "end", model: "small", finishReason: "stop", usage });
  const [{ headers, body }] = provider.asked as [Provider["asked"][number]];
  expect(headers.authorization).toBe("Bearer sk-secret");
  expect(body).toMatchObject({
    model: "small",
    stream: true,
    messages: [
      { role: "system", content: QUESTION.instructions },
      { role: "user", content: QUESTION.facts },
    ],
  });
});

it("yields the first part while the provider is still writing the rest", async () => {
  let resume = () => {};
  const resumed = new Promise<void>((resolve) => (resume = resolve));
  const model = await modelThat(async (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(chunk("First"));
    await resumed;
    response.end(chunk(" then", "stop"));
  });
  const parts = model.ask(QUESTION, new AbortController().signal);
  expect((await parts.next()).value).toEqual({ kind: "text", text: "First" });
  resume();
  expect((await parts.next()).value).toEqual({ kind: "text", text: " then" });
  expect((await parts.next()).value).toMatchObject({ kind: "end", finishReason: "stop" });
});

it("asks the model that the question names, and needs no key for a server that requires none", async () => {
  const model = await modelThat(says("Yes."), { apiKey: null });
  const parts: AnswerPart[] = [];
  for await (const part of model.ask({ ...QUESTION, model: "large" }, new AbortController().signal)) parts.push(part);
  expect(parts.at(-1)).toMatchObject({ model: "large" });
  expect(provider.asked[0]!.body.model).toBe("large");
});

it.each([
  ["length", "length"],
  ["content_filter", "filtered"],
  ["tool_calls", "filtered"],
])("reports that an answer which ended by %s is incomplete", async (reason, finishReason) => {
  const model = await modelThat(says("Half of", reason));
  expect((await ask(model)).at(-1)).toMatchObject({ kind: "end", finishReason });
});

describe("fails with its own message if the provider", () => {
  const page: Behaviour = (_, response) => void response.writeHead(200, { "Content-Type": "text/html" }).end("<html>");
  const cut: Behaviour = (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(chunk("Half"), () => response.destroy());
  };
  const redirect: Behaviour = (_, response) =>
    void response.writeHead(307, { Location: "http://127.0.0.1:9/v1/chat/completions" }).end();
  const over = streams('data: {"error": {"message": "sk-secret is over quota"}}\n\n');
  const seventeen = refuses(429, "rate_limit_exceeded", { "Retry-After": "17" });
  const CUT = { message: "It cannot be reached, or its answer broke off." };
  const EARLY = { message: "Its response ended early." };
  const STRANGE = { message: "Its response does not follow the protocol." };
  const KEY = { kind: "keyRefused", message: "It does not take the service's key." };
  it.each<[what: string, behaviour: Behaviour, failure: object]>([
    ["refuses the key", refuses(401, "invalid_api_key"), KEY],
    ["knows no such model", refuses(404, "model_not_found"), { kind: "unknownModel" }],
    [
      "finds the question too long",
      refuses(400, "context_length_exceeded"),
      { message: "The facts are too long for it." },
    ],
    ["limits the rate of requests", seventeen, { kind: "rateLimited", retryAfter: 17 }],
    [
      "refuses requests for an unknown time",
      refuses(429, "insufficient_quota"),
      { kind: "rateLimited", retryAfter: null },
    ],
    ["fails", refuses(500, "server_error"), { kind: "unavailable", message: "Its server answered 500." }],
    ["answers with a web page", page, EARLY],
    ["answers with invalid JSON", streams("data: {nonsense\n\n"), STRANGE],
    ["answers with JSON of another shape", streams('data: [1, "x"]\n\n', 'data: {"choices": 7}\n\n'), EARLY],
    ["answers nothing", streams(chunk(null, "stop")), { message: "Its answer is empty." }],
    ["breaks off in the middle", streams(chunk("Half of")), EARLY],
    ["cuts the connection", cut, CUT],
    ["cuts the connection at once", (_, response) => void response.destroy(), CUT],
    ["redirects", redirect, { kind: "unavailable" }],
    ["reports an error within the stream", over, { kind: "unavailable" }],
  ])("%s", async (_, behaviour, failure) => {
    expect(await failureOf(ask(await modelThat(behaviour)))).toMatchObject(failure);
    expect(provider.asked).toHaveLength(1);
  });

  it("is unreachable", async () => {
    const model = await modelThat(says("Yes."));
    await provider.close();
    expect(await failureOf(ask(model))).toMatchObject({ kind: "unavailable" });
    provider = await startProvider();
  });

  it("is silent for too long, which closes the connection", async () => {
    const model = await modelThat(() => undefined, { partMsMax: 100 });
    expect(await failureOf(ask(model))).toMatchObject({ kind: "late", message: "It said nothing for 0.1 seconds." });
    await provider.asked[0]!.closed;
  });

  it("falls silent in the middle", async () => {
    const model = await modelThat((_, response) => void response.writeHead(200).write(chunk("Half")), {
      partMsMax: 200,
    });
    expect(await failureOf(ask(model))).toMatchObject({ kind: "late" });
  });

  it("never ends its answer", async () => {
    const model = await modelThat(
      (_, response) => {
        const timer = setInterval(() => response.write(chunk("more ")), 10);
        response.writeHead(200).once("close", () => clearInterval(timer));
      },
      { answerMsMax: 300 },
    );
    const message = "It was not done with its answer after 0.3 seconds.";
    expect(await failureOf(ask(model))).toMatchObject({ kind: "late", message });
    await provider.asked[0]!.closed;
  });

  it("writes a text without end", async () => {
    const text = "x".repeat(8192);
    const model = await modelThat(streams(...Array.from({ length: 20 }, () => chunk(text))));
    expect(await failureOf(ask(model))).toMatchObject({ message: "Its response is too long." });
  });

  it("sends a line without end", async () => {
    const model = await modelThat((_, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      const block = "x".repeat(1024 * 1024);
      const more = (error?: Error | null): void => {
        if (!error && !response.destroyed) response.write(block, more);
      };
      response.write("data: ", more);
    });
    expect(await failureOf(ask(model))).toMatchObject({ message: "It answered more than 4194304 bytes." });
    await provider.asked[0]!.closed;
  });
});

it("ends the request when the caller aborts", async () => {
  const model = await modelThat(() => undefined);
  const gone = new AbortController();
  const answer = ask(model, gone.signal);
  await expect.poll(() => provider.asked.length).toBe(1);
  gone.abort(new Error("left"));
  await expect(answer).rejects.toThrow("left");
  await provider.asked[0]!.closed;
});

it("ignores the library's own environment variables", async () => {
  for (const name of ["API_KEY", "ORG_ID", "PROJECT_ID"]) vi.stubEnv(`OPENAI_${name}`, "other");
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:9");
  onTestFinished(() => void vi.unstubAllEnvs());
  await ask(await modelThat(says("Yes."), { apiKey: null }));
  const { headers } = provider.asked[0]!;
  expect(headers).not.toHaveProperty("openai-organization");
  expect(headers).not.toHaveProperty("openai-project");
  expect(headers.authorization).toBe("Bearer none");
});
