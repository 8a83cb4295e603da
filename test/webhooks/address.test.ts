import { expect, test } from "vitest";
import { request } from "undici";
import { checkUrl, refusal } from "../../src/webhooks/address.js";
import { createAgent } from "../../src/webhooks/agent.js";
import { describeError } from "../../src/webhooks/failure.js";
import type { ResolvedAddress } from "../../src/webhooks/resolve.js";
import { startReceiver, type Receiver } from "./support/receiver.js";

test.each([
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "unspecified"],
  ["10.1.2.3", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["100.64.0.1", "carrierGradeNat"],
  ["100.100.100.200", "carrierGradeNat"],
  ["169.254.169.254", "linkLocal"],
  ["168.63.129.16", "metadata"],
  ["192.0.0.192", "reserved"],
  ["198.18.0.1", "reserved"],
  ["203.0.113.7", "reserved"],
  ["224.0.0.1", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "ipv4Mapped"],
  ["::ffff:8.8.8.8", "ipv4Mapped"],
  ["::7f00:1", "reserved"],
  ["64:ff9b::7f00:1", "rfc6052"],
  ["2002:7f00:1::", "6to4"],
  ["2001:0:7f00:1::", "teredo"],
  ["2001:db8::1", "reserved"],
  ["fc00::1", "uniqueLocal"],
  ["fd00:ec2::254", "uniqueLocal"],
  ["fe80::1", "linkLocal"],
  ["fe80::1%eth0", "linkLocal"],
  ["fec0::1", "deprecatedSiteLocal"],
  ["ff02::1", "multicast"],
  ["4000::1", "reserved"],
  ["no address", "not an address"],
])("%s is refused as %s", (address, reason) => {
  expect(refusal(address)).toBe(reason);
});

test.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::200e"])(
  "%s is allowed",
  (address) => {
    expect(refusal(address)).toBeNull();
  },
);

test.each([
  "https://example.com/hooks?tenant=1",
  "http://example.com:8080",
  "https://xn--bcher-kva.example/",
  "https://8.8.8.8/",
  "https://[2606:4700::1111]/",
])("%s can be a webhook's URL", (url) => {
  expect(checkUrl(url, { allowPrivate: false })).toBeNull();
});

test.each([
  "",
  "example.com/hooks",
  "/hooks",
  "ftp://example.com/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "https://user@example.com/",
  "https://user:password@example.com/",
  "https://example.com/#part",
  `https://example.com/${"a".repeat(2048)}`,
])("%s cannot be a webhook's URL, even where private addresses are allowed", (url) => {
  expect(checkUrl(url, { allowPrivate: true })).toMatch(/^[A-Z].*\.$/);
});

const DISGUISES = [
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://0/",
  "http://127.0.0.1./",
  "http://①②⑦.0.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[fd00:ec2::254]/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://api.localhost/",
];

test.each(DISGUISES)("%s is refused at creation and allowed where private addresses are", (url) => {
  expect(checkUrl(url, { allowPrivate: false })).toContain("not delivered to");
  expect(checkUrl(url, { allowPrivate: true })).toBeNull();
});

async function post(
  url: string,
  allowPrivate: boolean,
  resolve?: () => Promise<ResolvedAddress[]>,
): Promise<number | string> {
  const agent = createAgent(resolve === undefined ? { allowPrivate } : { allowPrivate, resolve });
  try {
    const answer = await request(url, { method: "POST", body: "{}", dispatcher: agent });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    return describeError(error);
  } finally {
    await agent.destroy();
  }
}

async function withReceiver(work: (receiver: Receiver, port: string) => Promise<void>): Promise<void> {
  const receiver = await startReceiver();
  try {
    await work(receiver, new URL(receiver.url).port);
  } finally {
    await receiver.close();
  }
}

test.each(DISGUISES)("%s is not dialled, even if it was stored", (url) =>
  withReceiver(async (receiver, port) => {
    const target = new URL(url);
    target.port = port;
    expect(await post(target.href, false)).toContain("SVC_WEBHOOK_ALLOW_PRIVATE=1");
    expect(receiver.requests).toHaveLength(0);
  }),
);

test("a name that resolves to private addresses only is not dialled", () =>
  withReceiver(async (receiver, port) => {
    const resolve = async (): Promise<ResolvedAddress[]> => [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ];
    expect(await post(`http://hooks.example.com:${port}/`, false, resolve)).toContain("loopback");
    expect(receiver.requests).toHaveLength(0);
    expect(await post(`http://hooks.example.com:${port}/`, true, resolve)).toBe(204);
    expect(receiver.requests[0]!.headers.host).toBe(`hooks.example.com:${port}`);
  }));

test("a name is asked for once per connection, so that a second answer can do nothing", () =>
  withReceiver(async (receiver, port) => {
    let asked = 0;
    const resolve = async (): Promise<ResolvedAddress[]> => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    };
    expect(await post(`http://hooks.example.com:${port}/`, true, resolve)).toBe(204);
    expect(asked).toBe(1);
    expect(receiver.requests).toHaveLength(1);
  }));

test("of several addresses only the public ones are dialled", () =>
  withReceiver(async (receiver, port) => {
    const agent = createAgent({
      allowPrivate: false,
      resolve: async () => [
        { address: "127.0.0.1", family: 4 },
        { address: "2606:4700::1111", family: 6 },
      ],
    });
    // Whether the public one can be reached from here or not: the receiver on the private one hears nothing.
    const sent = request(`http://hooks.example.com:${port}/`, { dispatcher: agent, signal: AbortSignal.timeout(200) });
    await expect(sent).rejects.not.toThrow(/SVC_WEBHOOK_ALLOW_PRIVATE/);
    expect(receiver.requests).toHaveLength(0);
    await agent.destroy();
  }));

test("a name that does not resolve fails with the name server's error", async () => {
  const resolve = () =>
    Promise.reject(Object.assign(new Error("queryA ENOTFOUND x.example.com"), { code: "ENOTFOUND" }));
  expect(await post("http://x.example.com/", false, resolve)).toContain("ENOTFOUND");
});

test("localhost resolves and is reached where private addresses are allowed", () =>
  withReceiver(async (receiver, port) => {
    expect(await post(`http://localhost:${port}/`, true)).toBe(204);
    expect(receiver.requests).toHaveLength(1);
  }));
