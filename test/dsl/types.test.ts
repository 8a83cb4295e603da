import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(folder, "../..");

test("the type checker accepts every form of a model and refuses every misspelt name", { timeout: 120_000 }, () => {
  const read = ts.readConfigFile(path.join(root, "tsconfig.json"), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, root);
  const fixtures = ts.sys.readDirectory(folder, [".fixture.ts"]);
  expect(fixtures).toHaveLength(3);
  const messages = ts.getPreEmitDiagnostics(ts.createProgram(fixtures, options)).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? ts.getLineAndCharacterOfPosition(file, start).line + 1 : 0;
    const name = file ? path.relative(folder, file.fileName) : "";
    return `${name}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
  expect(messages).toEqual([]);
});
