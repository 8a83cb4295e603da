import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createDirectory, unlessMissing } from "../db/embedded/files.js";
import { ConfigError, type ServerConfig } from "./config.js";

/**
 * The secret with which the service encrypts and signs: SVC_SECRET, else the one in the data directory, which is created once. If the directory
 * cannot be written (a service on a read-only disk with an external database), SVC_SECRET must be set: a new secret for every start could
 * not decrypt what the last one encrypted.
 */
export async function resolveSecret(config: Pick<ServerConfig, "secret" | "dataDir">): Promise<string> {
  if (config.secret !== null) return config.secret;
  const file = path.join(path.resolve(config.dataDir), "secret");
  try {
    return (await readSecret(file)) ?? (await createSecret(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ConfigError([
      `SVC_SECRET is not set and cannot be kept in ${file} (${code}); set it, or make SVC_DATA_DIR writable`,
    ]);
  }
}

async function readSecret(file: string): Promise<string | null> {
  const text = await unlessMissing(readFile(file, "utf8"), null);
  if (text === null) return null;
  const secret = text.trim();
  if (secret.length >= 32) return secret;
  throw new ConfigError([`${file} holds no secret of at least 32 characters; restore it, or set SVC_SECRET`]);
}

/** Writes a temporary file and links it into place, so that it appears complete, and the first of two concurrent processes wins. */
async function createSecret(file: string): Promise<string> {
  await createDirectory(path.dirname(file), 0o711);
  const fresh = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(fresh, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx", flush: true });
  try {
    await link(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(fresh);
  }
  return (await readSecret(file)) as string;
}
