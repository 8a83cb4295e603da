import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { Reply } from "../../support/service.js";
import { useSpec } from "../support/fixture.js";

// Section "Request IDs".

const fixture = useSpec();

const event = { customerId: "c", event: "e" };

/** Requests of every kind, and the status of each answer. */
const REQUESTS: [name: string, status: number, send: (headers: Record<string, string>) => Promise<Reply>][] = [
  ["a single event", 202, (headers) => fixture.single(event, headers)],
  ["a batch", 202, (headers) => fixture.batch([event], headers)],
  ["a probe", 200, (headers) => fixture.service.request("GET", "/livez", { headers })],
  ["the administrative API", 200, (headers) => fixture.admin("GET", "/projects/app/customers", { headers })],
  ["a refused body", 400, (headers) => fixture.single("{", headers)],
  ["a refused key", 401, (headers) => fixture.single(event, { Authorization: "", ...headers })],
  ["a refused session", 401, (headers) => fixture.service.request("GET", "/projects/app/customers", { headers })],
  ["a path that is not there", 404, (headers) => fixture.service.request("GET", "/nowhere", { headers })],
  ["a method that is not taken", 405, (headers) => fixture.service.request("DELETE", "/v1/events", { headers })],
  ["a body that is too large", 413, (headers) => fixture.single(" ".repeat(600_000), headers)],
  ["a body of another type", 415, (headers) => fixture.single(event, { "Content-Type": "text/plain", ...headers })],
];

const requestIdIn = (reply: Reply) => (reply.body as { error?: { requestId: string } }).error?.requestId;

describe("Every response carries header `X-Request-ID`. If the request supplies that header, its value is returned; the value also appears in `error.requestId`", () => {
  it.each(REQUESTS)(
    "%s: %i, with an ID that the service made, or the one that was sent",
    async (_name, status, send) => {
      // The suite's requests have an ID; an empty one counts as none.
      const [first, second] = [await send({ "X-Request-ID": "" }), await send({ "X-Request-ID": "" })];
      const given = await send({ "X-Request-ID": "checkout-7f3a.42" });
      const replies = [first, second, given];
      const ids = replies.map(({ headers }) => headers.get("X-Request-ID"));
      expect(replies.map((reply) => reply.status)).toEqual([status, status, status]);
      expect(ids[0]).toMatch(/^req_[0-9a-f]{32}$/);
      expect(ids[1]).not.toBe(ids[0]);
      expect(ids[2]).toBe("checkout-7f3a.42");
      if (status >= 400) expect(replies.map(requestIdIn)).toEqual(ids);
    },
  );

  it("not HTTP: 400", async () => {
    const socket = connect(Number(new URL(fixture.service.url).port), "127.0.0.1");
    socket.write("nonsense\r\n\r\n");
    const answer = await text(socket);
    const id = /^X-Request-ID: (req_[0-9a-f]{32})\r$/m.exec(answer)?.[1];
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf("{")))).toMatchObject({ error: { requestId: id } });
  });

  it.each(["a", "x".repeat(200), "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"])("%j, byte for byte", async (id) => {
    expect((await fixture.single(event, { "X-Request-ID": id })).headers.get("X-Request-ID")).toBe(id);
  });

  it.each([
    ["of 201 characters", "x".repeat(201)],
    ["with a space", "two words"],
    ["with a character beyond ASCII", "gr\u00fcn"],
  ])("an unsafe one for logs, %s, is replaced", async (_name, id) => {
    const reply = await fixture.single(event, { "X-Request-ID": id });
    expect(reply.headers.get("X-Request-ID")).toMatch(/^req_[0-9a-f]{32}$/);
  });

  it("one that is sent twice is replaced", async () => {
    const answered = await new Promise<string>((resolve, reject) => {
      const outgoing = request(`${fixture.service.url}/livez`, { headers: { "X-Request-ID": ["a", "b"] } });
      outgoing.on("error", reject).on("response", (response) => {
        response.resume();
        resolve(String(response.headers["x-request-id"]));
      });
      outgoing.end();
    });
    expect(answered).toMatch(/^req_[0-9a-f]{32}$/);
  });
});
