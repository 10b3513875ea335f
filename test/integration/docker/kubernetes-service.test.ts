import { expect, it } from 'vitest';
import { z } from 'zod';
import { containerOf, objectOf, podOf } from '../../support/kubernetes/written-parts.ts';
import { serviceDocument, servicePaths } from '../../support/openapi/service-document.ts';

const routing = z.looseObject({
  rules: z.array(
    z.looseObject({
      http: z.object({
        paths: z.array(z.looseObject({ path: z.string(), pathType: z.enum(['Exact', 'Prefix']) })),
      }),
    }),
  ),
});

it("the manifests ask the service's probes where it answers them", async () => {
  const { paths } = await serviceDocument();
  const { startupProbe, readinessProbe, livenessProbe } = containerOf(podOf('service'));
  const asked = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet.path);
  expect(asked).toEqual(['/-/liveness', '/-/readiness', '/-/liveness']);
  expect(asked.filter((path) => !Object.hasOwn(paths, path ?? ''))).toEqual([]);
});

it('the ingress exposes the whole API and all pages, but neither health nor metrics', async () => {
  const { rules } = routing.parse(objectOf('components/ingress', 'Ingress').spec);
  const open = rules.flatMap(({ http }) => http.paths);
  const isOpen = (path: string): boolean =>
    open.some(({ path: prefix, pathType }) =>
      pathType === 'Exact' ? path === prefix : `${path}/`.startsWith(`${prefix}/`),
    );
  const documented = Object.keys((await serviceDocument()).paths);
  const paths = [...documented, ...(await servicePaths())];
  const closed = paths.filter((path) => !isOpen(path));
  expect(new Set(closed)).toEqual(new Set(['/-/liveness', '/-/readiness', '/health', '/metrics']));
  expect(paths).toEqual(expect.arrayContaining(['/agent/v1/poll', '/sign-in', '/status/:url']));
  const others = ['/', '/docs', '/openapi.json', '/schemas/check-file.json'];
  expect(others.filter((path) => !isOpen(path))).toEqual([]);
});
