<?php
// A page that waits: 50 ms for something else, as for a database, and hardly computes.
usleep(50000);
header('Content-Type: text/plain');
echo "slept 50 ms\n";
