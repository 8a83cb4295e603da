import { readFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** How deliveries introduce themselves. */
export const USER_AGENT = `svc-webhooks/${version}`;
