import { describe, expect, it } from "vitest";
import { Passwords } from "../../../src/http/pages/passwords.js";

const PASSWORD = "correct horse battery";

describe("passwords", () => {
  it("are verified against their hash, and against none", async () => {
    const passwords = new Passwords();
    const hash = await passwords.hash(PASSWORD);
    expect(await passwords.verify(hash, PASSWORD)).toBe(true);
    expect(await passwords.verify(hash, `${PASSWORD} `)).toBe(false);
    expect(await passwords.verify(null, PASSWORD)).toBe(false);
    expect(await passwords.verify(null, "")).toBe(false);
  });

  it("fail on a hash that is none, and go on with the next", async () => {
    const passwords = new Passwords();
    const broken = Array.from({ length: 5 }, () => passwords.verify("not a hash", PASSWORD));
    for (const { status } of await Promise.allSettled(broken)) expect(status).toBe("rejected");
    expect(await passwords.verify(null, PASSWORD)).toBe(false);
  });

  it("wait in line for two at once, fifty at most; whoever comes then is told to come again", async () => {
    const passwords = new Passwords();
    const verified = Array.from({ length: 52 }, () => passwords.verify(null, PASSWORD));
    expect(() => passwords.requireRoom()).toThrow(
      expect.objectContaining({ status: 503, headers: { "Retry-After": "1" } }),
    );
    await expect(passwords.hash(PASSWORD)).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(await Promise.all(verified)).toEqual(Array(52).fill(false));
    passwords.requireRoom();
    expect(await passwords.verify(null, PASSWORD)).toBe(false);
  });
});
