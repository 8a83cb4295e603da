import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test, vi } from "vitest";

import { installed } from "../support/debian.js";
import { useDirectory } from "../support/directory.js";

const directory = await useDirectory();

/** Like apt-get where there are no lists of packages yet. */
const APT_GET = `#!/bin/sh
cd "${directory}"
echo "$1" >> calls
if [ "$1" = update ]; then touch lists; else test -e lists; fi
`;

test("files that install something at once where there are no lists of packages yet wait for each other", async ({
  skip,
}) => {
  if (process.getuid?.() !== 0) skip("only root can install packages");
  const program = path.join(directory, "apt-get");
  await writeFile(program, APT_GET);
  await chmod(program, 0o755);
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  const both = [1, 2].map((n) => installed(`/nowhere/${n}`, [`nothing-${n}`]));
  expect(await Promise.all(both)).toEqual([null, null]);
  // apt-get update fails while another one runs.
  expect(await readFile(path.join(directory, "calls"), "utf8")).toBe("install\nupdate\ninstall\ninstall\n");
  vi.unstubAllEnvs();
});
