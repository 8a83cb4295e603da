import { readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { runBash } from "../../support/bash.js";
import { docBlocks } from "../../support/doc-blocks.js";
import type { Actor } from "../../support/service.js";
import { useOAuthService } from "./fixture.js";

const page = readFileSync(new URL("../../../docs/sign-in.md", import.meta.url), "utf8");

const service = useOAuthService();
let owner: Actor;
beforeAll(async () => {
  owner = await service.owner("acme");
});

/** Runs a block unchanged. */
const run = (code: string, env: Record<string, string> = {}) =>
  runBash(code, { PATH: process.env["PATH"], SVC_API_URL: service.url, ...env });

/** An answer with the parts that differ each time masked. */
const shape = (text: string) =>
  JSON.parse(
    text
      .replaceAll(service.url, "https://svc.example.com")
      .replaceAll(/(svc_[a-z]+_)([0-9a-f]{48}|[0-9a-f]{4}…)/g, "$1")
      .replaceAll(/[A-Z]{4}-[A-Z]{4}/g, "code"),
  ) as unknown;

it("docs/sign-in.md signs a program in and out", async () => {
  const [ask, asked, poll, signedIn, revoke, ...more] = docBlocks(page).map(({ code }) => code);
  expect(more).toEqual([]);

  const codes = await run(ask!);
  expect(shape(codes)).toEqual(shape(asked!));
  const { device_code: deviceCode, user_code: userCode } = JSON.parse(codes) as Record<string, string>;
  const browser = await service.browser(owner);
  await browser.get(`/device?user_code=${userCode!}`);
  await browser.submit({ user_code: userCode! });
  await browser.submit({ user_code: userCode!, decision: "approve" });

  const token = await run(poll!, { DEVICE_CODE: deviceCode! });
  expect(shape(token)).toEqual(shape(signedIn!));
  const { access_token: accessToken } = JSON.parse(token) as { access_token: string };
  const whoami = () =>
    service.request("GET", "/whoami", { by: { ...owner, token: accessToken } }).then(({ status }) => status);
  expect(await whoami()).toBe(200);
  await run(revoke!, { SVC_ACCESS_TOKEN: accessToken });
  expect(await whoami()).toBe(401);
});
