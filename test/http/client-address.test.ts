import type { Context } from "koa";
import { describe, expect, it } from "vitest";
import { clientAddress, clientNetwork } from "../../src/http/request/client-address.js";

/** A request of which Koa says so, over a connection from there. */
const from = (ip: string, remoteAddress?: string) => ({ ip, req: { socket: { remoteAddress } } }) as unknown as Context;

describe("the client", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7"],
    ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:ffff::1", "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80::1", "fe80::/64"],
  ])("%s has the address %s and counts as %s", (ip, address, network) => {
    expect(clientAddress(from(ip))).toBe(address);
    expect(clientNetwork(from(ip))).toBe(network);
  });

  it.each(["unknown", "_hidden", "192.0.2.7:1234", "x\r\nSet-Cookie: a=b", ""])(
    "is whoever the connection is from where a proxy says %j",
    (said) => {
      expect(clientAddress(from(said, "::ffff:192.0.2.9"))).toBe("192.0.2.9");
    },
  );

  it("is unknown where the connection is gone", () => {
    expect(clientAddress(from("", undefined))).toBe("unknown");
    expect(clientNetwork(from("", undefined))).toBe("unknown");
  });
});
