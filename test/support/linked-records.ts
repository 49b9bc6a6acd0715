/** Linked records to query: work orders with their projects and locations, and projects with theirs. */
import type { startService } from './service.ts';

type Service = Pick<Awaited<ReturnType<typeof startService>>, 'create'>;

export async function createLinkedRecords({ create }: Service, { workOrders: count }: { workOrders: number }) {
  const numbered = (length: number, record: (index: number) => object) =>
    Array.from({ length }, (_, index) => record(index));
  const place = (i: number) => ({ name: `location ${i}`, city: `city ${i}` });
  const locations = await create('/locations', ...numbered(5, place));
  const project = (i: number) => ({
    name: `project ${i}`,
    locationId: locations[i % 5].id,
    companyId: `company-${i}`,
  });
  const projects = await create('/projects', ...numbered(7, project));
  const order = (i: number) => ({
    name: `order ${i}`,
    projectId: projects[i % 7].id,
    locationId: locations[(i * 3) % 5].id,
  });
  return { locations, projects, workOrders: await create('/work-orders', ...numbered(count, order)) };
}
