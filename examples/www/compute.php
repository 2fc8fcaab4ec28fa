<?php
// A page that computes: always the same work, 10 to 15 ms of one core.
$hash = '';
for ($i = 0; $i < 60000; $i++) {
    $hash = md5($hash . $i);
}
header('Content-Type: text/plain');
echo $hash, "\n";
