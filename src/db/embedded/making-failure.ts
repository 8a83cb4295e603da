import { CommandError, SetupError } from "./command.js";

/** Codes of the system and of PostgreSQL for a disk without space. */
const FULL = ["ENOSPC", "EDQUOT", "53100"];

/**
 * The SetupError for a failure to make a database in the data directory, if the operator can remove its cause: a disk without space, or whatever
 * initdb complains of. Other errors unchanged.
 */
export function makingFailure(directory: string, error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string };
  if (code !== undefined && FULL.includes(code)) return tooSmall(directory, message, error);
  if (!(error instanceof CommandError)) return error;
  const reason = complaintOf(error);
  if (reason.includes("No space left on device")) return tooSmall(directory, reason, error);
  return new SetupError(
    `PostgreSQL cannot make a database in ${directory} (${reason}); correct that, or set SVC_DATA_DIR to another directory`,
    { cause: error },
  );
}

function tooSmall(directory: string, reason: string, cause: unknown): SetupError {
  return new SetupError(
    `there is too little space in ${directory} for a new database (${reason}); ` +
      "it takes 100 MB: free as much there, or set SVC_DATA_DIR to a directory on another disk",
    { cause },
  );
}

/** Before its complaint initdb writes twenty lines about what it does, and after it what it removes. */
function complaintOf({ output, message }: CommandError): string {
  const complaints = Array.from(output.matchAll(/(?:LOG|FATAL|PANIC|ERROR|error): +(.+)/g), ([, text]) => text);
  const lines = complaints.length > 0 ? complaints : (output || message).split("\n");
  return lines.slice(-3).join(" | ");
}
