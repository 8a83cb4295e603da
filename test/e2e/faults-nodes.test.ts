import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { FAULTS, NODE_FAULTS } from "../../faults/kinds/index.js";
import { readOptions } from "../../faults/options.js";
import { parseOptions, SupervisedServer } from "../../faults/stage/supervised-server.js";
import { useDirectory } from "../support/directory.js";

// `npm run faults -- --nodes …` without a cluster; docs/operations/faults.md has the results of one.

const directory = await useDirectory();
const print = () => undefined;

it("accepts the data directories of a cluster, and then injects each kind of fault once", async () => {
  const options = await readOptions(["--nodes", "/data/0", "/data/1", "/data/2", "--seed", "3"], print);
  expect(options).toMatchObject({
    nodes: ["/data/0", "/data/1", "/data/2"],
    strikes: FAULTS.length + NODE_FAULTS.length,
    seed: 3,
  });
  expect(await readOptions([], print)).toMatchObject({ nodes: [], strikes: FAULTS.length });
});

it("refuses a coordinator without workers", async () => {
  await expect(readOptions(["--nodes", "/data/0"], print)).rejects.toMatchObject({
    exitCode: 2,
    message: "--nodes takes the data directory of the coordinator and then of each worker, at least two in all",
  });
});

it.each([
  ["a directory without a server's files", false, /postmaster\.opts/],
  ["a server that does not run", true, /no server runs on it/],
])("refuses %s before it creates anything", async (name, isThere, problem) => {
  const data = path.join(directory, name.replaceAll(" ", "-"));
  await mkdir(data);
  if (isThere) await writeFile(path.join(data, "postmaster.opts"), '/usr/bin/postgres "-D" "/data"\n');
  const opening = SupervisedServer.open({ data, url: () => "", signal: new AbortController().signal });
  await expect(opening).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(problem) as string });
  await expect(opening).rejects.toThrow(/--nodes takes the data directories of servers that run on this machine$/);
});

it("restarts a server with its recorded command line", () => {
  expect(parseOptions('/usr/lib/postgresql/18/bin/postgres "-D" "/data of mine/0" "-c" "port=5433"\n')).toEqual({
    file: "/usr/lib/postgresql/18/bin/postgres",
    args: ["-D", "/data of mine/0", "-c", "port=5433"],
  });
});
