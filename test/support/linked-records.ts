/** Linked records to query: work orders with their projects and locations, and projects with theirs. */
import type { startService } from './service.ts';

export async function createLinkedRecords(
  service: Pick<Awaited<ReturnType<typeof startService>>, 'create'>,
  { workOrders, projects = 7, locations = 5 }: { workOrders: number; projects?: number; locations?: number },
) {
  const numbered = (count: number, record: (index: number) => object) =>
    Array.from({ length: count }, (_, i) => record(i));
  const places = await service.create(
    '/locations',
    ...numbered(locations, (i) => ({ name: `location ${i}`, city: `city ${i}` })),
  );
  const undertakings = await service.create(
    '/projects',
    ...numbered(projects, (i) => ({
      name: `project ${i}`,
      locationId: places[i % locations].id,
      companyId: `company-${i}`,
    })),
  );
  const orders = await service.create(
    '/work-orders',
    ...numbered(workOrders, (i) => ({
      name: `order ${i}`,
      projectId: undertakings[i % projects].id,
      locationId: places[(i * 3) % locations].id,
    })),
  );
  return { locations: places, projects: undertakings, workOrders: orders };
}
