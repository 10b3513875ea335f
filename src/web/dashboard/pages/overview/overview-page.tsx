import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return <PageHeader title="Checks" />;
}
