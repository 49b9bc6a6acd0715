/**
 * The files that other programs export, and what becomes of their columns. What has no field here is named, too, so that a column
 * that a later version adds, or one of a workspace's own, is not left out without a word.
 */
/** Columns that an earlier or later version has are there with all of their names. */
export const readyProfiles = {
  'snipe-it': {
    kinds: {
      assets: {
        map: {
          ID: 'externalIds.snipe-it',
          'Asset Name': 'name',
          'Item Name': 'name',
          'Asset Tag': 'uid',
          Serial: 'externalIds.serial',
          'Serial Number': 'externalIds.serial',
          Model: 'assetTypeId',
          'Model Name': 'assetTypeId',
          Status: 'statusId',
          Location: 'currentLocation.name',
          Company: 'ownerId',
          Manufacturer: 'manufacturerId',
          'Purchase Date': 'acquiredAt',
          'Order Number': 'purchaseOrderId',
        },
        skip: [
          ...[
            'Device Image',
            'Image',
            'Model No.',
            'Model Number',
            'Category',
            'Checked Out To',
            'Checked Out',
            'Type',
          ],
          ...['Employee Number', 'Employee No.', 'Title', 'Full Name', 'Email', 'Username', 'Department', 'Manager'],
          ...['Default Location', 'Supplier', 'Age', 'Purchase Cost', 'Cost', 'Current Value', 'Diff', 'Book Value'],
          ...['EOL', 'EOL Rate', 'EOL Date', 'Warranty', 'Warranty Months', 'Warranty Expires', 'Fully Depreciated'],
          ...['Notes', 'Checkouts', 'Checkins', 'Requests', 'Requestable', 'Created By', 'Created At', 'Updated At'],
          ...['Checkout Date', 'Last Checkin Date', 'Expected Checkin Date', 'Last Audit', 'Next Audit Date', 'BYOD'],
          ...['Checkin/Checkout', 'Actions', 'URL'],
        ],
      },
      locations: {
        map: {
          id: 'externalIds.snipe-it',
          ID: 'externalIds.snipe-it',
          'Location Name': 'name',
          address: 'address1',
          Address: 'address1',
          'Address 2': 'address2',
          zip: 'postalCode',
          Zip: 'postalCode',
          'Postal Code': 'postalCode',
        },
        skip: [
          ...['Image', 'image', 'Parent', 'parent', 'parent location', 'manager', 'Manager', 'manager username'],
          ...['currency', 'Currency', 'Location Currency', 'ldap_ou', 'LDAP OU', 'phone', 'Phone', 'fax', 'Fax'],
          ...['People', 'Current Assets', 'Assigned Assets', 'Assets', 'Accessories', 'notes', 'Notes', 'Company'],
          ...['company', 'tag_color', 'Tag Color', 'Created At', 'Updated At', 'Created By', 'Actions'],
        ],
      },
    },
  },
  shelf: {
    kind: 'assets',
    createMissing: ['locations'],
    map: {
      title: 'name',
      id: 'externalIds.shelf',
      assetId: 'externalIds.shelf',
      sequentialId: 'uid',
      'Asset ID': 'uid',
      Name: 'name',
      location: 'currentLocation.name',
      Location: 'currentLocation.name',
      status: 'statusId',
      Status: 'statusId',
      assetModel: 'assetTypeId',
      'Asset Model': 'assetTypeId',
    },
    skip: [
      ...['description', 'Description', 'kit', 'Kit', 'category', 'Category', 'tags', 'Tags', 'valuation', 'Value'],
      ...['custodian', 'Custodian', 'Custody', 'bookable', 'Available to book', 'type', 'quantity', 'minQuantity'],
      ...['unitOfMeasure', 'consumptionType', 'imageUrl', 'mainImage', 'Created at', 'Updated at', 'createdAt'],
      ...['updatedAt', 'QR ID', 'qrId', 'barcode_Code128', 'barcode_Code39', 'barcode_DataMatrix', 'notes'],
    ],
  },
  homebox: {
    kind: 'assets',
    createMissing: ['locations'],
    map: {
      'HB.import_ref': 'externalIds.homebox',
      'HB.name': 'name',
      'HB.location': 'currentLocation.name',
      'HB.asset_id': 'uid',
      'HB.serial_number': 'externalIds.serial',
      'HB.manufacturer': 'manufacturerId',
      'HB.model_number': 'assetTypeId',
      'HB.purchase_time': 'acquiredAt',
      'HB.purchase_date': 'acquiredAt',
    },
    skip: [
      ...['HB.labels', 'HB.tags', 'HB.archived', 'HB.url', 'HB.quantity', 'HB.description', 'HB.insured', 'HB.notes'],
      ...['HB.purchase_price', 'HB.purchase_from', 'HB.lifetime_warranty', 'HB.warranty_expires'],
      ...['HB.warranty_details', 'HB.sold_to', 'HB.sold_price', 'HB.sold_time', 'HB.sold_date', 'HB.sold_notes'],
      ...['HB.parent_import_ref', 'HB.entity_type'],
    ],
  },
  atlas: {
    kinds: {
      assets: {
        map: {
          ID: 'externalIds.atlas',
          Status: 'statusId',
          'Location Name': 'currentLocation.name',
          Barcode: 'uid',
          'Serial Number': 'externalIds.serial',
          Category: 'assetTypeId',
        },
        skip: [
          ...['Description', 'Archived', 'Parent Asset', 'Area', 'Primary User', 'Warranty Expiration Date', 'Parts'],
          ...['Additional Information', 'Assigned To', 'Teams', 'Teams Names', 'Vendors', 'Customers', 'Contractors'],
          ...['Downtime Duration'],
        ],
      },
      locations: {
        map: { ID: 'externalIds.atlas', Address: 'address1' },
        skip: ['Parent Location', 'Workers', 'Teams', 'Teams Names', 'Vendors', 'Customers', 'Contractors'],
      },
      workOrders: {
        map: {
          ID: 'externalIds.atlas',
          Title: 'name',
          Status: 'statusId',
          Description: 'notes',
          'Due Date': 'endDate',
          Category: 'typeId',
          'Location Name': 'location.name',
        },
        skip: [
          ...['Priority', 'Estimated Hours', 'Estimated Duration', 'Requires Signature', 'Team Name', 'Primary User'],
          ...['Assigned To', 'Asset Name', 'Completed By', 'Completed On', 'Archived', 'Feedback', 'Contractors'],
          ...['Customers', 'Date created', 'Created At'],
        ],
      },
    },
  },
};
