import { vi } from "vitest";

import { addDifferences, type Difference } from "../../http/admin/support/recomputes.js";
import type { Service } from "../../support/service.js";

/** Stands in for a worker: writes what a worker would write about queued jobs. */
export interface StandIn {
  /** Waits for a job to be queued and returns its id. */
  next(): Promise<string>;
  /** Updates a job's row with this SQL. */
  write(id: string, change: string): Promise<void>;
  /** Takes the next job, writes these differences and completes it, with totals as SQL and this number of customers. */
  complete(differences: readonly Difference[], totals?: string, customers?: number): Promise<string>;
}

/** @param project returns the slug of the project whose jobs it takes; called for each job */
export function standIn(service: Service, project: () => string): StandIn {
  const next = () =>
    vi.waitFor(
      async () => {
        const [row] = await service.db.sql<{ id: string }[]>`
          update svc.recomputes set status = 'running', attempt = attempt + 1, started_at = '2026-03-14T09:00:00Z'
          where status = 'queued' and environment_id in (
            select e.environment_id from svc.environments as e join svc.projects as p on p.project_id = e.project_id
            where p.slug = ${project()}
          )
          returning recompute_id as id`;
        if (row === undefined) throw new Error("nothing is queued");
        return row.id;
      },
      { timeout: 20_000, interval: 20 },
    );
  const write = async (id: string, change: string): Promise<void> => {
    await service.db.sql.unsafe(`update svc.recomputes set ${change} where recompute_id = '${id}'`);
  };
  return {
    next,
    write,
    complete: async (differences, totals = "attempt = 1", customers = Math.max(differences.length, 3)) => {
      const id = await next();
      await addDifferences(service.db.sql, id, differences);
      await write(
        id,
        `status = 'completed', finished_at = '2026-03-14T09:00:12Z', customers_total = ${customers},
         customers_done = ${customers}, customers_changed = ${differences.length}, ${totals}`,
      );
      return id;
    },
  };
}
