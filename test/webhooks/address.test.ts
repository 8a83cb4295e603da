import { Resolver } from "node:dns/promises";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { request, type Agent } from "undici";
import { checkUrl, whyNotPublic, type ResolvedAddress, resolveHost } from "../../src/webhooks/address.js";
import { createAgent } from "../../src/webhooks/agent.js";
import { describeError } from "../../src/webhooks/send.js";
import { useDirectory } from "../support/directory.js";
import { startReceiver, type Receiver } from "./support/receiver.js";

const directory = await useDirectory();

/** Addresses by the reason of their refusal. */
const REFUSED: Record<string, string> = {
  loopback: "127.0.0.1 127.255.255.254 ::1",
  unspecified: "0.0.0.0 0.1.2.3 ::",
  private: "10.1.2.3 172.16.0.1 172.31.255.255 192.168.0.1",
  carrierGradeNat: "100.64.0.1 100.100.100.200",
  linkLocal: "169.254.169.254 fe80::1 fe80::1%eth0",
  metadata: "168.63.129.16",
  reserved: "192.0.0.192 198.18.0.1 203.0.113.7 240.0.0.1 ::7f00:1 2001:db8::1 100:0:0:1:: 3fff::1 4000::1",
  multicast: "224.0.0.1 ff02::1",
  broadcast: "255.255.255.255",
  ipv4Mapped: "::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1",
  rfc6052: "64:ff9b::7f00:1 64:ff9b:1::a9fe:a9fe",
  rfc6145: "::ffff:0:127.0.0.1",
  "6to4": "2002:7f00:1::",
  teredo: "2001:0:7f00:1::",
  uniqueLocal: "fc00::1 fd00:ec2::254",
  deprecatedSiteLocal: "fec0::1",
  isatap: "2606:4700::5efe:7f00:1 2606:4700::200:5efe:10.0.0.1",
  segmentRouting: "5f00::1",
  zoned: "2606:4700::1111%eth0",
  // Ambiguous: some programs read them as public addresses.
  "not an address": "fe80::1%eth-0 name 8.8 0x08080808 010.8.8.8",
};

const ALLOWED = "8.8.8.8 172.32.0.1 100.128.0.1 2606:4700::1111 2a00:1450:4001::200e".split(" ");

test("an address is refused with the reason why it is not public", () => {
  for (const [reason, addresses] of Object.entries(REFUSED))
    for (const address of addresses.split(" ")) expect(whyNotPublic(address), address).toBe(reason);
  for (const text of ["no address", ""]) expect(whyNotPublic(text)).toBe("not an address");
  for (const address of ALLOWED) expect(whyNotPublic(address), address).toBeNull();
});

test("all notations of an address are treated alike", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const url = new URL(`http://${address.includes(":") ? `[${address}]` : address}/`);
      expect(whyNotPublic(address) === null).toBe(whyNotPublic(url.hostname.replace(/^\[|\]$/g, "")) === null);
    }),
    { numRuns: 500 },
  );
});

test.each([
  "https://example.com/hooks?tenant=1",
  "http://example.com:8080",
  "https://xn--bcher-kva.example/",
  "https://8.8.8.8/",
  "https://[2606:4700::1111]/",
])("%s can be a webhook's URL", (url) => {
  expect(checkUrl(url, { allowPrivate: false })).toBeNull();
});

const NO_URLS =
  "example.com/hooks /hooks ftp://example.com/ file:///etc/passwd javascript:alert(1) " +
  "https://user@example.com/ https://user:password@example.com/ https://example.com/#part https:example.com " +
  "https:///example.com/ https:\\\\example.com\\ https:// https://exa%00mple.com/ https://[fe80::1%25eth0]/ " +
  "https://256.0.0.1/";

test.each([
  "",
  ...NO_URLS.split(" "),
  "https://exa\nmple.com/",
  "https://example.com/a b",
  " https://example.com/",
  `https://example.com/${"a".repeat(2048)}`,
])("%s cannot be a webhook's URL, even where private addresses are allowed", (url) => {
  expect(checkUrl(url, { allowPrivate: true })).toMatch(/^[A-Z].*\.$/);
});

/** URLs in disguise, each of which leads to an address that is not public. */
const DISGUISES = `
  127.0.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 127.1 127.0.0.1. %31%32%37.0.0.1 ①②⑦.0.0.1
  １２７.０.０.１ 127。0。0。1 0 0.0.0.0 10.0.0.1 172.16.0.1 192.168.0.1 [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1]
  [::ffff:a9fe:a9fe] [::ffff:0:7f00:1] [::7f00:1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::]
  [2001:0:7f00:1::] [2606:4700::5efe:7f00:1] [fc00::1] [fe80::1] [fec0::1] localhost LOCALHOST. %6Cocalhost
  api.localhost
`;

/** Where clouds provide a machine's credentials: most, AWS, AWS ECS and EKS, Google, Azure, Alibaba, Oracle (two), OpenStack, Tencent. */
const METADATA = `
  169.254.169.254 [fd00:ec2::254] 169.254.170.2 [fd00:ec2::23] [fd20:ce::254] 168.63.129.16 100.100.100.200
  192.0.0.192 [fd00:c1::a9fe:a9fe] [fe80::a9fe:a9fe] 169.254.0.23
`;
const REFUSED_URLS = `${DISGUISES} ${METADATA}`
  .trim()
  .split(/\s+/)
  .map((host) => `http://${host}/`);

test.each(REFUSED_URLS)("%s is refused at creation and allowed where private addresses are", (url) => {
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
    return await postBy(agent, url);
  } finally {
    await agent.destroy();
  }
}

/** The status of the answer, or the reason why there is none. */
async function postBy(agent: Agent, url: string): Promise<number | string> {
  try {
    const answer = await request(url, { method: "POST", body: "{}", dispatcher: agent });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    return describeError(error);
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

test("a name is resolved once per connection, so that a second answer has no effect", () =>
  withReceiver(async (receiver, port) => {
    let asked = 0;
    const resolve = async (): Promise<ResolvedAddress[]> => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    };
    expect(await post(`http://hooks.example.com:${port}/`, true, resolve)).toBe(204);
    expect(asked).toBe(1);
    expect(receiver.requests.map(({ headers }) => headers.host)).toEqual([`hooks.example.com:${port}`]);
  }));

test("of several addresses, only the public ones are connected to", () =>
  withReceiver(async (receiver, port) => {
    const agent = createAgent({
      allowPrivate: false,
      resolve: async () => [
        { address: "127.0.0.1", family: 4 },
        { address: "2606:4700::1111", family: 6 },
      ],
    });
    // Whether or not the public one can be reached from here, the receiver at the private one gets nothing.
    const sent = request(`http://hooks.example.com:${port}/`, { dispatcher: agent, signal: AbortSignal.timeout(200) });
    await expect(sent).rejects.not.toThrow(/public address/);
    expect(receiver.requests).toHaveLength(0);
    await agent.destroy();
  }));

test("an error tells if name servers do not answer, but not whether a name is unknown or leads to a private address", async () => {
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(`query ${code}`), { code }));
  const url = "http://intranet.example.com/";
  const message = "no public address was found for intranet.example.com";
  expect(await post(url, false, async () => [{ address: "10.0.0.7", family: 4 }])).toBe(message);
  for (const code of ["ENOTFOUND", "EAI_AGAIN", "ENODATA"])
    expect(await post(url, false, failing(code)), code).toBe(message);
  expect(await post(url, false, async () => [])).toBe(message);
  expect(await post(url, false, failing("ETIMEOUT"))).toContain("query ETIMEOUT");
  expect(await post(url, true, failing("ENOTFOUND")), "private addresses are allowed").toContain("query ENOTFOUND");
});

test("localhost resolves and is reached if private addresses are allowed", () =>
  withReceiver(async (receiver, port) => {
    expect(await post(`http://localhost:${port}/`, true)).toBe(204);
    expect(receiver.requests).toHaveLength(1);
  }));

test("nothing that leads to a private address is connected to, in any notation and even if its name has just changed", () =>
  withReceiver(async (receiver, port) => {
    const attempt = async (url: string, resolve?: () => Promise<ResolvedAddress[]>): Promise<void> => {
      const target = Object.assign(new URL(url), { port });
      expect(await post(target.href, false, resolve), url).toMatch(
        /is not a public address|no public address was found/,
      );
    };
    for (const url of REFUSED_URLS) await attempt(url);
    // A public name that resolves to metadata, to a private address, or to several.
    for (const addresses of [["169.254.169.254"], ["10.0.0.7"], ["127.0.0.1", "192.168.0.9", "::1", "fd00::9"]]) {
      const found = addresses.map((address): ResolvedAddress => ({ address, family: address.includes(":") ? 6 : 4 }));
      await attempt("http://hooks.example.com/", async () => found);
    }
    const answers = ["8.8.8.8", "127.0.0.1"];
    const rebound = async (): Promise<ResolvedAddress[]> => [{ address: answers.shift()!, family: 4 }];
    expect(whyNotPublic((await rebound())[0]!.address), "as it was looked at before").toBeNull();
    await attempt("http://hooks.example.com/", rebound);
    expect(receiver.requests).toEqual([]);
  }));

test("a public address of this machine is not connected to, because its firewall would be bypassed", async () => {
  const agent = createAgent({
    allowPrivate: false,
    resolve: async () => [{ address: "2606:4700::1111", family: 6 }],
    ownAddresses: () => ["127.0.0.1", "8.8.8.8", "2606:4700::1111"],
  });
  expect(await postBy(agent, "http://8.8.8.8/")).toContain("8.8.8.8 is not a public address (this machine)");
  expect(await postBy(agent, "http://hooks.example.com/")).toContain("no public address was found");
  await agent.destroy();
});

test("proxies from environment variables are not used, because they would resolve names themselves", () =>
  withReceiver(async (proxy) =>
    withReceiver(async (receiver) => {
      for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]) {
        vi.stubEnv(name, proxy.url);
      }
      vi.stubEnv("NODE_USE_ENV_PROXY", "1");
      try {
        expect(await post(receiver.url, true)).toBe(204);
      } finally {
        vi.unstubAllEnvs();
      }
      expect(receiver.requests).toHaveLength(1);
      expect(proxy.requests).toEqual([]);
    }),
  ));

test("a connection outlives a change of its name for minutes, not forever, and every new one is checked", () =>
  withReceiver(async (before, port) => {
    const after = createServer((_request, response) => response.writeHead(202).end());
    await new Promise<void>((listening) => after.listen(Number(port), "127.0.0.2", listening));
    let address = "127.0.0.1";
    const agent = createAgent({ allowPrivate: true, resolve: async () => [{ address, family: 4 }] });
    const url = `http://hooks.example.com:${port}/`;
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      expect(await postBy(agent, url)).toBe(204);
      address = "127.0.0.2";
      // The connection is free again once the client has processed the end of the exchange.
      await new Promise(setImmediate);
      expect(await postBy(agent, url)).toBe(204);
      expect(new Set(before.requests.map(({ remotePort }) => remotePort)).size).toBe(1);
      await new Promise(setImmediate);
      vi.setSystemTime(Date.now() + 6 * 60_000);
      expect(await postBy(agent, url)).toBe(202);
    } finally {
      vi.useRealTimers();
      await agent.destroy();
      after.closeAllConnections();
      await new Promise((closed) => after.close(closed));
    }
  }));

test("concurrent lookups of a name by the system are shared, and their results are checked, too", async () => {
  // Not a name for the URL parser, but 127.0.0.1 for the system.
  const [first, second] = await Promise.all([resolveHost("0x7f000001"), resolveHost("0x7f000001")]);
  expect(first).toBe(second);
  expect(first.map(({ address }) => whyNotPublic(address))).toEqual(["loopback"]);
  expect(await resolveHost("0x7f000001")).not.toBe(first);
});

/** Has the name servers answer every question with an error. */
function refuseNames(code: string): void {
  const refuse = () => Promise.reject(Object.assign(new Error(`query ${code}`), { code }));
  const spies = [vi.spyOn(Resolver.prototype, "resolve4"), vi.spyOn(Resolver.prototype, "resolve6")];
  for (const spy of spies) spy.mockImplementation(refuse);
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
}

test("the system is not asked for a name whose servers hang, which would hold one of its threads", async () => {
  refuseNames("ESERVFAIL");
  await expect(resolveHost("0x7f.1")).rejects.toThrow("query ESERVFAIL");
  const agent = createAgent({ allowPrivate: false });
  expect(await postBy(agent, "http://hooks.example.com/")).toContain("query ESERVFAIL");
  await agent.destroy();
});

test("a name in the hosts file is found although the name servers fail, and its addresses are checked like others", async () => {
  refuseNames("ESERVFAIL");
  const hosts = path.join(directory, "hosts");
  await writeFile(
    hosts,
    "# 10.0.0.1 hooks.corp.example\n10.0.0.2\tother Hooks.corp.example # ours\n::1 hooks.corp.example",
  );
  expect(await resolveHost("hooks.CORP.example.", hosts)).toEqual([
    { address: "10.0.0.2", family: 4 },
    { address: "::1", family: 6 },
  ]);
  await expect(resolveHost("corp.example", hosts)).rejects.toThrow("query ESERVFAIL");
  await expect(resolveHost("hooks.corp.example", `${hosts}.missing`)).rejects.toThrow("query ESERVFAIL");
  const agent = createAgent({ allowPrivate: false, resolve: (name) => resolveHost(name, hosts) });
  expect(await postBy(agent, "http://hooks.corp.example/")).toContain("no public address was found");
  await agent.destroy();
});

test("the system looks up two names at once, and the others after them", async () => {
  refuseNames("ENOTFOUND");
  const running = () => process.getActiveResourcesInfo().filter((type) => type === "GetAddrInfoReqWrap").length;
  const before = running();
  const found = Array.from({ length: 6 }, (_, n) => resolveHost(`0x7f.${n + 1}`));
  // No look-up ends before the event loop turns.
  for (let n = 0; n < 100; n++) await Promise.resolve();
  expect(running() - before).toBe(2);
  const addresses = (await Promise.all(found)).map(([first]) => first?.address);
  expect(addresses).toEqual([1, 2, 3, 4, 5, 6].map((n) => `127.0.0.${n}`));
});
