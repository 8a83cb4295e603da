import { readFile } from "node:fs/promises";
import { type Account, CommandError, runCommand, SetupError } from "./command.js";

const NAME = "postgres";

/**
 * The account that PostgreSQL runs under: null (our own) unless we are root, which PostgreSQL refuses to run as. For root it is the
 * system user `postgres`, created if it is missing.
 */
export async function serverAccount(): Promise<Account | null> {
  if (process.geteuid?.() !== 0) return null;
  const existing = await findAccount();
  if (existing !== null) return existing;
  await createAccount();
  const created = await findAccount();
  if (created === null) throw refusal("it was created, but /etc/passwd does not show it");
  return created;
}

async function findAccount(): Promise<Account | null> {
  const passwd = await readFile("/etc/passwd", "utf8");
  const fields = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name]) => name === NAME);
  return fields === undefined ? null : { name: NAME, uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Tries shadow-utils first, then BusyBox's form of `adduser`. If two processes do this at once, the second finds the account. */
async function createAccount(): Promise<void> {
  const forms: [string, string[]][] = [
    ["/usr/sbin/useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/bin/false", NAME]],
    ["/usr/sbin/adduser", ["-S", "-D", "-H", "-s", "/bin/false", NAME]],
  ];
  const failures: string[] = [];
  for (const [program, args] of forms) {
    try {
      await runCommand(program, args, null);
      return;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      if ((await findAccount()) !== null) return;
      failures.push(error.message);
    }
  }
  throw refusal(failures.join("; "));
}

function refusal(reason: string): Error {
  return new SetupError(
    `PostgreSQL does not run as root and the system user ${NAME} could not be created (${reason}); ` +
      `create it, start as another user, or set DATABASE_URL to a server of your own`,
  );
}
