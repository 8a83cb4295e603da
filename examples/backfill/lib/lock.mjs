// One run at a time: two that write the same checkpoint and the same rejected rows would ruin both.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { realpathSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Mistake } from "./mistake.mjs";

/**
 * Keeps other runs on this machine from the checkpoint `file` for as long as this process lives. It is a socket that the process listens on: however it
 * ends, the system closes that, and nothing has to be cleaned up by hand. Throws a Mistake where another run has it.
 */
export async function lock(file) {
  const path = socketPath(file);
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    try {
      server.listen(path);
      await once(server, "listening");
      server.unref();
      process.once("exit", () => rmSync(path, { force: true }));
      return;
    } catch (error) {
      if (error.code !== "EADDRINUSE") throw new Mistake(`cannot lock the checkpoint ${file}: ${error.message}`);
    }
    if (await answers(path)) {
      throw new Mistake(
        `another run has the checkpoint ${file}; wait for its end, or end it, or name another with --checkpoint where it is another backfill`,
      );
    }
    // What a run that was killed has left behind: nobody listens.
    rmSync(path, { force: true });
  }
}

async function answers(path) {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Beside the checkpoint it could be too long a path for a socket, or on a disk that has none. */
function socketPath(file) {
  const name = createHash("sha256").update(whole(file)).digest("hex").slice(0, 24);
  return process.platform === "win32" ? `\\\\.\\pipe\\svc-backfill-${name}` : join(tmpdir(), `svc-backfill-${name}`);
}

function whole(file) {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    // There is no such directory, as the attempt to write the checkpoint will say.
    return file;
  }
}
