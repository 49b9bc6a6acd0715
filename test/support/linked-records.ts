/** Linked records to query: work orders with their projects and locations, and projects with theirs. */
import type { startService } from './service.ts';

type Service = Pick<Awaited<ReturnType<typeof startService>>, 'create'>;

export async function createLinkedRecords({ create }: Service, workOrders: number) {
  const numbered = (count: number, record: (n: number) => object) => Array.from({ length: count }, (_, n) => record(n));
  const locations = await create('/locations', ...numbered(5, (n) => ({ name: `location ${n}`, city: `city ${n}` })));
  const project = (n: number) => ({ name: `project ${n}`, locationId: locations[n % 5].id, companyId: `company-${n}` });
  const projects = await create('/projects', ...numbered(7, project));
  const link = (n: number) => ({ projectId: projects[n % 7].id, locationId: locations[(n * 3) % 5].id });
  await create('/work-orders', ...numbered(workOrders, (n) => ({ name: `order ${n}`, ...link(n) })));
  return { locations, projects };
}
