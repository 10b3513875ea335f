import { largeLocationSuite } from '../../support/service-suites/large-location-suite.ts';

largeLocationSuite('pglite', 10_000);
