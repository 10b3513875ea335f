/** The admin key of the service's first account (FIRST_API_KEY). */
export const BENCH_KEY = `vk_${'5'.repeat(32)}`;

/** Creates a resource of the first account. @throws Error if the service refuses it */
export async function create(
  origin: string,
  path: string,
  body: object,
): Promise<{ readonly id: string }> {
  const answer = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { readonly id: string };
}

/** Creates the page `bench` with this many services. */
export async function createPage(
  origin: string,
  services: number,
): Promise<{ readonly pageId: string; readonly serviceIds: readonly string[] }> {
  const serviceIds: string[] = [];
  for (let n = 0; n < services; n += 1) {
    const made = await create(origin, '/v1/status-pages/services', { name: `Service ${n}` });
    serviceIds.push(made.id);
  }
  const cards = [{ name: 'Services', services: serviceIds }];
  const { id } = await create(origin, '/v1/status-pages', { name: 'Bench', url: 'bench', cards });
  return { pageId: id, serviceIds };
}
