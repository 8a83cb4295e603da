import type { Environment } from "./settings.js";

/** What is said once another model is active in an environment that has customers. */
export function customersKeepTheirState(environment: Environment): string {
  return [
    "Customers keep the state that they have until something happens to them, or they are recomputed:",
    `  svc recompute --all --dry-run --env ${environment}   what that would change`,
    `  svc recompute --all --env ${environment}             do it`,
  ].join("\n");
}
