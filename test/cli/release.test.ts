import { expect, test } from "vitest";

import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

async function release(argv: string[], released = 1) {
  const { url, seen } = await cannedServer(json({ released }));
  const result = await svc(["customers", "release", ...argv, "--project", "shop"], { at: url });
  return { ...result, asked: seen.map(({ method, url: path }) => `${method} ${path}`) };
}

test("one customer is released", async () => {
  const { code, stdout, asked } = await release(["--customer", "a/b", "--yes", "--env", "live"]);
  expect({ code, stdout, asked }).toEqual({
    code: 0,
    stdout: "Released a/b.\n",
    asked: ["POST /projects/shop/customers/a%2Fb/release?env=live"],
  });
});

test("all customers are released", async () => {
  const { stdout, asked } = await release(["--all", "--yes"], 1_200);
  expect({ stdout, asked }).toEqual({
    stdout: "Released 1,200 of them.\n",
    asked: ["POST /projects/shop/customers/release?env=test"],
  });
});

test("that there was nothing to release is told, and is no failure", async () => {
  expect(await release(["--customer", "c", "--yes"], 0)).toMatchObject({ code: 0, stdout: "c was not set aside.\n" });
  expect(await release(["--all", "--yes"], 0)).toMatchObject({ code: 0, stdout: "No customer was set aside.\n" });
});
