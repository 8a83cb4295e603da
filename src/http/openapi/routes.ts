import type { Route } from "../route.js";
import { openApiDocument } from "./document.js";

export interface OpenApiDeps {
  /** Where clients reach the service, without a slash at the end; a function because it is known only once the service listens. */
  publicUrl: () => string;
  /** The administrative ones among them are described. */
  routes: readonly Route[];
}

const HEADERS = { "Cache-Control": "public, max-age=300" };

/** GET /openapi.json: the description of the API, for everybody. Built at the first request. */
export function openApiRoutes({ publicUrl, routes }: OpenApiDeps): Route[] {
  const administrative = routes.flatMap(({ declaration }) => declaration ?? []);
  const build = async () => JSON.stringify(await openApiDocument({ publicUrl: publicUrl(), administrative }));
  let text: Promise<string> | undefined;
  return [
    {
      method: "GET",
      path: "/openapi.json",
      handle: async (ctx) => {
        text ??= build();
        ctx.body = await text;
        ctx.set(HEADERS);
        ctx.type = "application/json";
      },
    },
  ];
}
