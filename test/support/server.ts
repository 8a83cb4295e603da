import { statSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { serverAccount } from "../../src/db/embedded/account.js";
import { findBinaries } from "../../src/db/embedded/binaries.js";
import { removeLeftovers as removeFaultRuns } from "../../faults/stage/leftovers.js";
import { isAlive } from "../../src/db/embedded/cluster.js";
import { halt } from "../../src/db/embedded/postmaster.js";
import { startEmbedded } from "../../src/db/embedded/embedded.js";

/** A PostgreSQL server for one run of the tests. */
export interface TestServer {
  /** URL of an existing database, with a user who may create others. */
  url: string;
  stop(): Promise<void>;
}

/** The data of tests need not survive a crash. */
export const TEST_SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  shared_buffers: "128MB",
  max_wal_size: "2GB",
};

/** The server at TEST_DATABASE_URL, else a container of TEST_POSTGRES_IMAGE if Docker runs, else an embedded server. */
export async function startTestServer(): Promise<TestServer> {
  const url = process.env["TEST_DATABASE_URL"];
  if (url !== undefined && url !== "") return { url, stop: () => Promise.resolve() };
  const image = process.env["TEST_POSTGRES_IMAGE"];
  if (image !== undefined && image !== "") {
    const container = await startContainer(image);
    if (container !== null) return container;
  }
  return startTemporary();
}

/** Null, with the reason printed, if there is no container runtime. */
async function startContainer(image: string): Promise<TestServer | null> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import("testcontainers");
  try {
    await getContainerRuntimeClient();
  } catch (error) {
    console.warn(`the embedded server is used instead of TEST_POSTGRES_IMAGE=${image}: ${(error as Error).message}`);
    return null;
  }
  const container = await new GenericContainer(image)
    .withEnvironment({ POSTGRES_PASSWORD: "test" })
    .withExposedPorts(5432)
    .withCommand(Object.entries(TEST_SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]))
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2)) // the first time during its initialization
    .start();
  return {
    url: `postgres://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    stop: async () => {
      await container.stop();
    },
  };
}

/** An embedded server in a directory named after our process, so that a later run sees whether we are alive. */
async function startTemporary(): Promise<TestServer> {
  const directory = await temporaryDirectory();
  const server = await startEmbedded(directory, { settings: TEST_SETTINGS, sync: false });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Creates a directory for this run; removed by a later run if this one is killed. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), `svc-test-${process.pid}-`));
  await chmod(directory, 0o711); // as root, the server runs as another user
  return directory;
}

/** Ends the servers and removes the directories of runs that were killed. */
export async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(os.tmpdir())) {
    const pid = /^svc-test-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const directory = path.join(os.tmpdir(), name);
    // Another user's, or removed by another run meanwhile.
    if (statSync(directory, { throwIfNoEntry: false })?.uid !== process.geteuid?.()) continue;
    await removeFaultRuns(directory);
    if ((await readdir(directory)).includes("postgres")) await endServer(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Stops the server of a data directory, even if it is in use; its version may differ from the embedded one. */
export async function endServer(directory: string): Promise<void> {
  const home = path.join(directory, "postgres");
  const account = await serverAccount();
  const binaries = await findBinaries(account);
  await halt({
    home,
    data: path.join(home, "data"),
    log: path.join(home, "server.log"),
    password: "",
    account,
    binaries,
  });
}
