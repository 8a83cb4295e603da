import { expect, it } from "vitest";
import type { ConsolePage } from "../../src/console/console-page.js";
import { type ChangeRequest, renderRefusal } from "../../src/console/render.js";
import { ApiError } from "../../src/http/errors.js";

it.each([
  ["", 400, 1],
  ["cursor=old", 400, 2],
  ["cursor=old", 503, 1],
])(
  "the page of a refused form at ?%s that fails with %d is asked for so often: %d",
  async (querystring, status, times) => {
    const queries: string[] = [];
    const page: ConsolePage = {
      path: "keys",
      answer: ({ query }) => {
        queries.push(query.toString());
        return Promise.reject(new ApiError(status, status === 400 ? "INVALID_REQUEST" : "SERVICE_UNAVAILABLE"));
      },
    };
    const refusal = new ApiError(503, "SERVICE_UNAVAILABLE");
    const asking = { ctx: { querystring, state: {} }, form: {} } as unknown as ChangeRequest;
    await expect(renderRefusal(page, asking, refusal)).rejects.toBe(refusal);
    expect(queries).toEqual([querystring, ""].slice(0, times));
  },
);
