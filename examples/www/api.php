<?php
// An API that takes a form, looks at it, and answers with a little JSON.
header('Content-Type: application/json');
$known = isset($_POST['ip_address'], $_POST['partner_code']);
http_response_code($known ? 200 : 400);
echo json_encode(['known' => $known, 'score' => $known ? crc32($_POST['ip_address']) % 100 : null]), "\n";
