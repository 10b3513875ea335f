const OPERATION = /^(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^\s…?]+)$/;

/** The anchor of an operation on the page of the API: `get-v1-checks-id` of GET /v1/checks/{checkId}. */
export function operationAnchor(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/\{\w+\}/g, 'id').replaceAll(/[^a-z0-9.]+/gi, '-')}`;
}

/** The link to an operation on the page of the API from a text such as `GET /v1/checks`; null for other texts. */
export function operationHref(text: string): string | null {
  const [, method, path] = OPERATION.exec(text) ?? [];
  if (method === undefined || path === undefined) return null;
  return `/docs/api#${operationAnchor(method, path)}`;
}
