import { maintenanceWindowsSuite } from '../../support/service-suites/maintenance-windows-suite.ts';

maintenanceWindowsSuite('pglite');
