import { readFileSync } from "node:fs";
import path from "node:path";
import { PROJECT_ROOT } from "../migrate/files.js";

/** A row of iam.operations(): who may do an operation of the administrative API. */
export interface PermissionRow {
  operation: string;
  /** The least role that may do it in test, and in live; the same where it concerns no environment. */
  roleTest: string;
  roleLive: string;
  /** What the organization's plan must include. */
  entitlement: string | null;
}

const FILE = "sql/functions/access/operations.sql";
const ROW = /^ +\('(\w+)', '(\w+)', '(\w+)', (?:null|'(\w+)')\),?$/;

/** The rows of iam.operations(), read from where they are written: there is no second table that could say otherwise. */
export function readOperations(): PermissionRow[] {
  const lines = readFileSync(path.join(PROJECT_ROOT, FILE), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, operation, roleTest, roleLive, entitlement] = ROW.exec(line) ?? [];
    if (operation === undefined || roleTest === undefined || roleLive === undefined) return [];
    return [{ operation, roleTest, roleLive, entitlement: entitlement ?? null }];
  });
}
