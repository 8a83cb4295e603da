import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(folder, "../..");

test("the type checker takes every form of condition and refuses every misspelt name", { timeout: 120_000 }, () => {
  const read = ts.readConfigFile(path.join(root, "tsconfig.json"), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, root);
  const program = ts.createProgram([path.join(folder, "types.fixture.ts")], options);
  const messages = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? ts.getLineAndCharacterOfPosition(file, start).line + 1 : 0;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
  expect(messages).toEqual([]);
});
