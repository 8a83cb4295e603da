import path from "node:path";

import { type Context, defineCommand, projectOptions } from "../../core/command.js";
import { unexpectedAnswer } from "../../client/failures.js";
import { cancellable } from "../../output/interruption.js";
import { jsonOf, formatNumber, printable } from "../../../words/text.js";
import { textOf } from "../../output/out.js";
import { createFile, refuseExisting } from "../../output/write-file.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: {
    output: { type: "text", describe: "The file to write, which must not exist yet; standard output unless given" },
    ...projectOptions,
  },
  examples: [
    ["svc customers export cus_42 --output cus_42.json", "Everything that is stored about a customer, as one file"],
    ["svc customers export cus_42 | jq .customer.traits", "The same for a program"],
  ],
  async handler(context, { customerId, output }) {
    if (output === undefined) {
      const parts = await exportOf(context, customerId);
      return context.out.stream(textOf(parts));
    }
    const { io, out } = context;
    const file = path.resolve(io.cwd, output);
    await refuseExisting(file);
    let bytes = 0;
    await cancellable(async (signal) => {
      const parts = await exportOf(context, customerId, signal);
      await createFile(file, counted(parts), signal);
    });
    const { environment } = context.settings;
    out.result({ document: { customerId, environment, file, bytes } }, () => {
      const size = `${formatNumber(Math.ceil(bytes / 1000))} kB`;
      return `Wrote what is stored about ${printable(customerId)} in ${environment} to ${printable(output)} (${size}).`;
    });

    async function* counted(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const part of parts) {
        bytes += part.length;
        yield part;
      }
    }
  },
});

/** The document's bytes as they arrive. */
async function exportOf(
  { api, settings }: Context,
  customerId: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const path = ["customers", customerId, "export"];
  const parts = await api.download(path, {}, { type: "application/json", signal, what: "the export" });
  return checked(parts, customerId, settings.apiUrl);
}

/** The beginning of an export, up to its customer's id. */
const BEGINNING = /^\s*\{\s*"customerId"\s*:\s*("(?:[^"\\]|\\.)*")/;
const BEGINNING_BYTES_MAX = 10_000;

/** Passes the parts on once they have begun as an export of the customer: any other answer must not be written. */
async function* checked(
  parts: AsyncIterable<Uint8Array>,
  customerId: string,
  base: string,
): AsyncGenerator<Uint8Array> {
  let buffered: Uint8Array | undefined = new Uint8Array();
  for await (const part of parts) {
    if (buffered === undefined) {
      yield part;
      continue;
    }
    buffered = Buffer.concat([buffered, part]);
    const id = BEGINNING.exec(new TextDecoder().decode(buffered))?.[1];
    if (id === undefined && buffered.length < BEGINNING_BYTES_MAX) continue;
    if (id === undefined || jsonOf(id) !== customerId) break;
    yield buffered;
    buffered = undefined;
  }
  if (buffered !== undefined) throw unexpectedAnswer(base, 200, "something other than an export of that customer");
}
