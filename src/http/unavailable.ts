import { ApiError } from "./errors.js";

/** Too many requests wait, for the database unless another reason is given: this one was not taken and may be sent again. */
export class QueueFullError extends ApiError {
  constructor(reason = "Too many requests wait for the database.") {
    super(503, "SERVICE_UNAVAILABLE", { reason });
  }
}

/** The database did not answer in time. What was asked of it may still happen, so only the same request may be sent again. */
export class OverdueError extends ApiError {
  constructor() {
    super(503, "SERVICE_UNAVAILABLE", { reason: "The database does not answer." });
  }
}

/** As the promise settles, or an OverdueError after so many milliseconds; what was begun goes on. */
export async function within<T>(msMax: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OverdueError()), msMax);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
